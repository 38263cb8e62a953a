"""The script that takes a loaded page's HTML, without what its reader cannot see.

It runs where the page's own scripts cannot reach (an isolated world, a sandbox), so that they do
not choose what it finds. What only a stylesheet hides is known here and nowhere else. Source:
https://developer.mozilla.org/docs/Web/API/Element/checkVisibility
"""

MAX_CHARS = 10_000_000

# `details` is a click away and stays. A parent with `visibility: hidden` may hold visible children:
# only its own text goes. All is looked at before anything is taken out, as each change would cost a
# new layout. Scripts have done their work, and a reader that finds none does not ask for a browser.
VISIBLE_HTML = f"""
(() => {{
  const doc = document;
  for (const each of doc.querySelectorAll("details")) each.open = true;
  const gone = [...doc.querySelectorAll("script:not([type='application/ld+json'])")];
  const silent = [];
  const isFarOff = (box) => box.right + scrollX < 0 || box.bottom + scrollY < 0;
  for (const each of doc.body ? doc.body.querySelectorAll("*") : []) {{
    if (each.tagName === "SCRIPT") continue;
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    const isCut = style.overflowX !== "visible" && (box.width <= 1 || box.height <= 1);
    if (style.display === "contents") continue;
    if (!each.checkVisibility() || +style.opacity <= 0.05 || parseFloat(style.fontSize) <= 2
        || isFarOff(box) || (isCut && style.display !== "inline")) gone.push(each);
    else if (style.visibility !== "visible") silent.push(each);
  }}
  for (const each of silent)
    for (const child of [...each.childNodes]) if (child.nodeType === 3) child.remove();
  for (const each of gone) each.remove();
  return doc.documentElement.outerHTML.slice(0, {MAX_CHARS + 1});
}})()
"""
