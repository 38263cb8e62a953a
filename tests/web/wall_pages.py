"""Hand-made pages, labelled: walls as their vendors make them, and pages that look like walls."""

from dataclasses import dataclass

SENTENCES = (
    "The harbour was built in 1872 by engineers from two countries.",
    "Its lighthouse still guides ships that come in from the north.",
    "Every autumn the fishing boats are painted in the colours of their owners.",
    "Visitors reach the old quarter on foot, over a bridge of grey stone.",
    "The market opens at six in the morning and sells herring, bread and wool.",
)
PROSE = "".join(f"<p>{' '.join(SENTENCES[n:])}</p>" for n in range(4))


@dataclass(frozen=True)
class Sample:
    name: str
    html: str
    url: str = "https://site.test/page"


def page(body: str, title: str = "A page", head: str = "") -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    )


def big(html: str, marker: str, at: int = 128_000) -> str:
    """`html` with a style of such length in it that `marker` stands at byte `at`."""
    return html.replace(
        "</head>", f"<style>{'.a{color:red}' * ((at - 200) // 13)}</style>{marker}</head>"
    )


CHALLENGE = (
    "<script>window._cf_chl_opt={cvId:'3',cType:'managed'};var a=document.createElement('script');"
    "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8a';</script>"
)
JSD = (
    "<script>(function(){var d=document.createElement('script');"
    "d.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';window.__CF$cv$params={r:'8a'};})()</script>"
)
RECAPTCHA = '<script src="https://www.google.com/recaptcha/api.js"></script>'
WIDGET = '<div class="g-recaptcha" data-sitekey="k"></div>'

WALLS = [
    Sample(
        "cloudflare",
        page(
            "<h1>site.test</h1><p>Verify you are human by completing the action below.</p>"
            "<p>site.test needs to review the security of your connection before proceeding.</p>"
            "<div>Ray ID: <code>8a1</code></div><div>Performance &amp; security by Cloudflare</div>"
            + CHALLENGE,
            "Just a moment...",
        ),
    ),
    Sample("cloudflare-275-kB", big(page("<p>Checking</p>" * 9_000, "Just a moment…"), CHALLENGE)),
    Sample(
        "cloudflare-untitled-among-prose",
        page(PROSE + '<script src="/cdn-cgi/challenge-platform/h/g/orchestrate/jsch/v1"></script>'),
    ),
    Sample(
        "cloudflare-javascript",
        page(
            "<noscript><h1>Enable JavaScript and cookies to continue</h1></noscript>"
            '<form id="challenge-form" action="/page?__cf_chl_f_tk=1"></form>' + CHALLENGE,
            "site.test",
        ),
    ),
    Sample(
        "cloudflare-blocked",
        page(
            '<div id="cf-error-details"><h1>Sorry, you have been blocked</h1><h2>You are unable to '
            "access site.test</h2><h2>Why have I been blocked?</h2><p>This website is using a "
            "security service to protect itself from online attacks. The action you just performed "
            "triggered the security solution. There are several actions that could trigger this "
            "block including submitting a certain word or phrase, a SQL command or malformed data."
            "</p></div>",
            "Attention Required! | Cloudflare",
        ),
    ),
    Sample(
        "akamai",
        page(
            "<h1>Access Denied</h1>You don't have permission to access "
            '"http://site.test/page" on this server.<p>Reference #18.4d2f1702.1700000000.1a2b'
            "<p>https://errors.edgesuite.net/18.4d2f1702.1700000000.1a2b</p>",
            "Access Denied",
        ),
    ),
    Sample(
        "akamai-interstitial",
        page(
            '<div id="sec-if-cpt-container"></div><script>triggerInterstitialChallenge()</script>'
            '<iframe src="/_sec/cp_challenge/ak-challenge-4-3.htm"></iframe>',
            "Challenge Validation",
        ),
    ),
    Sample(
        "perimeterx",
        page(
            '<div id="px-captcha"></div><h1>Press &amp; Hold to confirm you are a human (and not a '
            "bot).</h1><p>Reference ID 6f3e</p>"
            '<script src="https://captcha.px-cdn.net/PX1/captcha.js"></script>',
            "Access to this page has been denied",
        ),
    ),
    Sample(
        "datadome",
        page(
            '<p id="cmsg">Please enable JS and disable any ad blocker</p>'
            "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>"
            '<script src="https://ct.captcha-delivery.com/c.js"></script>',
            "site.test",
        ),
    ),
    Sample(
        "imperva",
        page(
            '<iframe src="/_Incapsula_Resource?CWUDNSAI=23&incident_id=1">Request unsuccessful. '
            "Incapsula incident ID: 1-2</iframe>",
            "",
            '<META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW">',
        ),
    ),
    Sample(
        "imperva-interrupted",
        page(
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser "
            "made us think you were a bot. There are a few reasons this might happen:</p><ul><li>"
            "You're a power user moving through this website with super-human "
            "speed.</li><li>You've "
            "disabled cookies in your web browser.</li></ul>",
            "Pardon Our Interruption",
        ),
    ),
    Sample(
        "aws-waf", page("<script>window.gokuProps={'key':'a'}</script><div id=challenge></div>", "")
    ),
    Sample(
        "hcaptcha",
        page(
            "<h1>One more step</h1><p>Please complete the security check to access site.test</p>"
            '<form><div class="h-captcha"></div></form>'
            '<script src="https://hcaptcha.com/1/api.js"></script>'
        ),
    ),
    Sample(
        "google-sorry",
        page(
            "<p>Our systems have detected unusual traffic from your computer network. This page "
            "checks to see if it's really you sending the requests, and not a robot.</p>"
            f"<form>{WIDGET}</form>IP address: 192.0.2.1<br>{RECAPTCHA}",
            "https://www.google.com/search?q=x",
        ),
    ),
    Sample(
        "checking-browser",
        page(
            "<h1>Checking your browser before accessing site.test.</h1><p>This process is "
            "automatic. Your browser will redirect to your requested content shortly.</p>"
            "<p>Please allow up to 5 seconds…</p>"
        ),
    ),
    Sample(
        "anubis",
        page(
            "<h1>Making sure you're not a bot!</h1><p>Loading...</p><p>You are seeing this because "
            "the administrator of this website has set up Anubis to protect the server.</p>"
            '<script src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script>',
            "Making sure you're not a bot!",
        ),
    ),
    Sample(
        "amazon",
        page(
            "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're "
            "not a robot. For best results, please make sure your browser is accepting cookies.</p>"
            "<form><input name=field-keywords><button>Continue shopping</button></form>",
            "Robot Check",
        ),
    ),
    Sample(
        "plain-verification",
        page("<h2>Human Verification</h2><p>Please verify you are a human to continue.</p>"),
    ),
    Sample(
        "google-consent",
        page(
            "<h1>Before you continue to Google</h1><p>We use cookies and data to deliver and "
            "maintain Google services, track outages and protect against spam, fraud and abuse.</p>"
            "<button>Reject all</button><button>Accept all</button><a>More options</a>",
            "Before you continue to Google Search",
        ),
        url="https://consent.google.com/ml?continue=https://www.google.com/",
    ),
    Sample(
        "yahoo-consent",
        page(
            "<h1>Yahoo is part of the Yahoo family of brands</h1><p>We and our 237 partners use "
            "cookies to store and access personal data.</p><form><button>Accept all</button></form>"
        ),
        url="https://guce.yahoo.com/consent?brandType=nonEu",
    ),
    Sample(
        "sourcepoint",
        page(
            '<div id="sp_message_container"><h2>We value your privacy</h2><p>We and our 842 '
            "partners store and/or access information on a device, such as unique IDs in cookies, "
            "to process personal data.</p><button>Accept and continue</button></div>"
        ),
    ),
    Sample(
        "german-consent",
        page(
            "<h1>Mit Werbung weiterlesen</h1><p>Wir und unsere bis zu 250 Partner verarbeiten Ihre "
            "personenbezogenen Daten mit Cookies.</p><button>Zustimmen und weiter</button>",
            "Einwilligung",
        ),
    ),
    Sample(
        "didomi",
        page(
            '<div id="didomi-host"><h1>Le respect de votre vie privée est notre '
            "priorité</h1><p>Nous "
            "et nos 812 partenaires utilisons des cookies.</p><button>Tout accepter</button></div>"
        ),
    ),
    Sample(
        "login",
        page(
            "<header><a href=/>Site</a></header><main><h1>Log in to "
            "continue</h1><form><label>Email "
            "<input name=email></label><label>Password <input type=password></label><button>Log in"
            "</button></form><a href=/forgot>Forgot password?</a></main>",
            "Log in | Site",
        ),
    ),
    Sample(
        "members-only",
        page(
            "<h1>Members area</h1><p>You must be logged in to view this page.</p>"
            "<a href=/login>Log in</a> <a href=/register>Create an account</a>"
        ),
    ),
    Sample(
        "authwall",
        page(
            "<h1>Join LinkedIn to see this profile</h1><form><input type=text><input type=password>"
            "<button>Agree &amp; Join</button></form><p>Already on LinkedIn? Sign in</p>",
            "Sign Up | LinkedIn",
        ),
    ),
    Sample(
        "turnstile",
        page("<h1>Verify you’re human</h1><div class=cf-turnstile></div>"),
    ),
    Sample(
        "client-challenge",
        page(
            "<p>JavaScript is disabled in your browser.</p><p>Please enable JavaScript to proceed."
            "</p><p>A required part of this site couldn’t load. This may be due to a browser "
            "extension, network issues, or browser settings.</p>",
            "Client Challenge",
        ),
    ),
    Sample(
        "german-youtube",
        page(
            "<h1>Bevor Sie zu YouTube weitergehen</h1><p>Wir verwenden Cookies und Daten, um "
            "Dienste bereitzustellen.</p><button>Alle akzeptieren</button>"
            "<button>Alle ablehnen</button>"
        ),
    ),
    Sample(
        "onetrust",
        page(
            "<div id=onetrust-consent-sdk><h2>About Your Privacy</h2><p>We process your data to "
            "deliver content or advertisements.</p><button>Allow All</button></div>"
        ),
    ),
    Sample(
        "account-login",
        page(
            "<h1>Sign in</h1><form><input type=email><input type=password><button>Next</button>"
            "</form><a>Can't access your account?</a>",
            "Sign in to your account",
        ),
    ),
]

REAL = [
    Sample("article", page(f"<article><h1>The harbour</h1>{PROSE}</article>", "The harbour")),
    Sample(
        "about-captchas",
        page(
            "<article><h1>How captchas work</h1><p>A captcha asks a visitor to prove that no robot "
            'is at work. Sites show "Verify you are human" or a box that says "I am not a robot". '
            "Researchers have shown since 2008 that computers solve most of them "
            "faster than people "
            "do, and that the rest is solved by workers for a few cents.</p><p>Cloudflare replaced "
            "its own with a check that shows nothing in most cases. Its title, Just a moment, has "
            "become a joke.</p></article>",
            "Are you a robot? How captchas work",
        ),
    ),
    Sample(
        "about-cloudflare",
        page(
            "<h1>Debugging the challenge page</h1><p>When Cloudflare suspects a bot "
            "it answers with "
            "a page titled <i>Just a moment...</i> and loads <code>/cdn-cgi/challenge-platform/h/b/"
            "orchestrate/chl_page/v1</code>, with its settings in <code>_cf_chl_opt</code>.</p>"
            + PROSE
        ),
    ),
    Sample(
        "about-cookie-law",
        page(
            "<article><h1>We use cookies: what the banner means</h1><p>The law asks sites to get "
            "consent before they store cookies for advertising. Courts in three countries have "
            "ruled that a button to accept needs one to reject beside it, as large and as near.</p>"
            "<p>Most banners fail that test. A study of 2023 found that of ten thousand sites one "
            "in seven let people say no on the first screen.</p></article>"
            "<button>Accept all</button>",
            "We use cookies: what the banner means",
        ),
    ),
    Sample("behind-cloudflare", page(f"<h1>The harbour</h1>{PROSE}{JSD}", "The harbour")),
    Sample("short-behind-cloudflare", page(f"<h1>Opening hours</h1><p>{SENTENCES[4]}</p>{JSD}")),
    Sample(
        "cookie-banner",
        page(
            '<div id="onetrust-consent-sdk"><h2>We value your privacy</h2><p>We and '
            "our partners use "
            "cookies.</p><button>Accept all</button></div>"
            f"<main><h1>The harbour</h1>{PROSE}</main>",
            head='<script src="https://cdn.cookielaw.org/scripttemplates/otSDKStub.js"></script>',
        ),
    ),
    Sample(
        "unnamed-cookie-banner",
        page(
            "<div><p>This website uses cookies.</p><button>Accept</button></div>"
            f"<div><h1>The harbour</h1>{PROSE}</div>"
        ),
    ),
    Sample(
        "comment-form",
        page(
            f"<article><h1>The harbour</h1>{PROSE}</article><section><h2>Comments</h2><form>"
            f"<textarea></textarea>{WIDGET}<button>Post</button></form></section>{RECAPTCHA}"
        ),
    ),
    Sample(
        "contact-form",
        page(
            "<h1>Contact</h1><p>Harbour office, 2 Quay Street. Telephone 555 0100.</p><form>"
            f"<input "
            f"name=name><textarea></textarea>{WIDGET}<button>Send</button></form>{RECAPTCHA}",
            "Contact us",
        ),
    ),
    Sample(
        "login-in-header",
        page(
            "<header><form><input name=user><input type=password><button>Log in</button></form>"
            f"<a>Sign in</a></header><main><h1>The harbour</h1>{PROSE}</main>"
        ),
    ),
    Sample(
        "short-with-login-link",
        page(
            "<nav><a href=/login>Log in</a></nav><h1>Status</h1><p>All systems work.</p>", "Status"
        ),
    ),
    Sample("tiny", page("ok", "")),
    Sample(
        "datadome-watched",
        page(
            f"<h1>Shop</h1>{PROSE}", head='<script src="https://js.datadome.co/tags.js"></script>'
        ),
    ),
    Sample(
        "perimeterx-watched",
        page(
            f"<h1>Shop</h1>{PROSE}",
            head="<script>window._pxAppId='PX1';var s='https://client.px-cloud.net/PX1/main.min.js'"
            "</script>",
        ),
    ),
    Sample(
        "imperva-watched",
        page(
            f"<h1>Shop</h1>{PROSE}", head='<script src="/_Incapsula_Resource?SWJIYLWA=7"></script>'
        ),
    ),
    Sample(
        "akamai-watched",
        page(f"<h1>Shop</h1>{PROSE}", head='<script src="/akam/13/2a1b"></script>'),
    ),
    Sample(
        "moment-as-title", page(f"<h1>Just a moment</h1><p>A novel.</p>{PROSE}", "Just a moment")
    ),
    Sample(
        "denied-as-title",
        page(
            f"<article><h1>Access denied: archives under lock</h1>{PROSE}</article>",
            "Access denied: archives under lock",
        ),
    ),
    Sample(
        "paywall-with-text",
        page(
            f"<article><h1>The harbour</h1>{PROSE}</article><p>Subscribe to continue reading.</p>"
        ),
    ),
    Sample(
        "how-to-log-in",
        page(
            "<h1>Sign in to your router</h1><p>Open 192.168.1.1 in a browser. The "
            "label on the back "
            "of the device shows its first password; change it at once, as it is printed in every "
            "manual.</p><ol><li>Choose Network, then Wireless.</li><li>Give the "
            "network a name that "
            "tells nothing of you or of the device.</li><li>Choose WPA3 and save.</li></ol>",
            "Sign in to your router",
        ),
    ),
    Sample(
        "issue-thread",
        page(
            "<h1>Crawler gets a captcha #288</h1><div><p>Please enable JavaScript and cookies to "
            "continue is all that our tool reads since Monday.</p><p>Same here with version 4.1 on "
            "Debian. Going back to 4.0 helps, so the new user agent may be the "
            "cause. I bisected it "
            "to the commit that changed the order of the headers.</p><p>Fixed in "
            "4.2, thanks for the "
            "traces. The order is now that of a real client, and a test compares both.</p></div>",
            "Crawler gets a captcha · Issue #288",
        ),
    ),
    Sample(
        "security-product",
        page(
            "<h1>Bot protection</h1><p>Our product tells people from machines by how a pointer "
            "moves. It runs at the edge and adds two milliseconds to a request. "
            "Customers in retail "
            "and travel have halved what fraud costs them within a year, and their visitors see a "
            "puzzle once in ten thousand visits.</p><p>Prices start at 200 euros a month.</p>",
            "Bot protection for shops",
        ),
    ),
    Sample(
        "airport",
        page(
            "<article><h1>Security check at airports</h1><p>Passengers wait 20 minutes.</p>"
            "</article>",
            "Security check at airports",
        ),
    ),
    Sample(
        "mysql",
        page(
            "<h1>Access denied error in MySQL</h1><p>ERROR 1045: Access denied for user root means "
            "that the password is wrong. Start the server with --skip-grant-tables.</p>",
            "Access denied error in MySQL",
        ),
    ),
    Sample(
        "cookie-policy",
        page(
            "<h1>Cookie policy</h1><p>This site uses cookies. Session cookies keep you signed in. "
            "You can accept or reject them.</p><button>Accept all</button>",
            "Cookie policy",
        ),
    ),
]
