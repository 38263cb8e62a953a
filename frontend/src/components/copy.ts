/** True once the text is on the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  // The clipboard API is missing where the page comes over plain http from another machine.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // refused: try the older way
    }
  }
  const holder = document.createElement("textarea");
  holder.value = text;
  holder.className = "sr";
  const before = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(holder);
  holder.select();
  const done = document.execCommand("copy");
  holder.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
