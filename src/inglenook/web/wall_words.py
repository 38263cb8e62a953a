"""What walls run and what they say, in the languages in which they are met most.

`…_SAYS` are matched at the beginning of a sentence, `TALK` anywhere in one.
"""

import re

_AS_A_HEADING = r"\W*(?:[|·–-].*)?$"
"""Nothing follows but the site's name."""


def _any(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(ways), re.IGNORECASE)


CERTAIN_TITLE = _any(
    r"just a moment(\.\.\.|…)",
    r"attention required! \| cloudflare",
    r"ddos-guard",
    r"robot check",
    r"vercel security checkpoint",
    r"making sure you're not a bot!",
    r"pardon our interruption(\.\.\.|…)?",
)
CHALLENGE = _any(
    r"_cf_chl_opt",
    # `scripts/` below this path are put into ordinary pages, too
    r"/cdn-cgi/challenge-platform/(?!(?:h/\w+/)?scripts/)",
)
VENDORS = {
    "captcha-delivery.com": "DataDome",
    "px-captcha": "PerimeterX",
    "px-cdn.net": "PerimeterX",
    "px-cloud.net": "PerimeterX",
    "_Incapsula_Resource": "Imperva",
    "_sec/cp_challenge": "Akamai",
    "sec-if-cpt": "Akamai",
    "triggerInterstitialChallenge": "Akamai",
    "errors.edgesuite.net": "Akamai",
    "awswaf.com": "AWS WAF",
    "gokuProps": "AWS WAF",
    "KPSDK": "Kasada",
    "perfdrive.com": "Radware",
    "sucuri_cloudproxy": "Sucuri",
    "ddos-guard": "DDoS-Guard",
    "/.well-known/vercel/security": "Vercel",
    "within.website/x/cmd/anubis": "Anubis",
    "_____tmd_____": "Alibaba",
    "cf-error-details": "Cloudflare",
    "cf-browser-verification": "Cloudflare",
}
"""Of checks that replace the page; most keep a watch on ordinary pages by the same scripts."""
BOT_SAYS = _any(
    r"(?:please |to continue,? (?:please )?|let'?s )?(?:verify(?:ing)?|confirm|prove|check(?:ing)?|"
    r"make sure) (?:that |if )?(?:you(?:'re| are)?|your browser|the site connection)\b",
    r"(?:please )?enable (?:js|javascript|cookies)\b.{0,40}\b(?:continue|ad.?block|access|proceed)",
    r"(?:please )?(?:complete|solve|pass) (?:the|this|a) "
    r"(?:security check|captcha|challenge|puzzle)",
    r"press (?:&|and) hold",
    r"(?:our systems have|we(?:'ve| have)?) detected (?:unusual|suspicious|automated)",
    r"(?:sorry, )?you have been blocked",
    r"(?:i'?m|i am) not a robot",
    r"access to this (?:page|site|website|resource|content) (?:has been|is|was) (?:denied|blocked)",
    r"(?:access denied|one more step|are you (?:a |not a )?(?:robot|human)|"
    r"(?:performing )?(?:security|human|bot|robot) (?:verification|check))" + _AS_A_HEADING,
    r"request unsuccessful\. incapsula",
    r"unusual traffic (?:from|has|was|detected)",
    r"(?:enter|type) the characters",
    r"this process is automatic",
    r"(?:sorry, )?we (?:just )?(?:need|want|have) to (?:verify|make sure|confirm|check)",
    r"(?:please )?(?:wait|stand by|hang on)\b.{0,40}(?:verify|check)",
    r"your (?:request|access|ip|connection)\b.{0,30}\b(?:blocked|denied)",
    r"prove your humanity",
    r"click the button below to continue",
    r"bitte (?:bestätigen|beweisen|lösen)",
    r"veuillez (?:vérifier|confirmer|activer)",
    r"por favor,? (?:verifica|verifique|confirma|confirme|resuelv)",
    r"百度安全验证|请.{0,6}验证",
)
CONSENT_SAYS = _any(
    r"before you continue",
    r"we (?:value|care about|respect) your privacy",
    r"your privacy (?:is|matters|choices)",
    r"we and our .{0,30}(?:partners|vendors)",
    r"we(?:,.{0,60},)? (?:and .{0,40} )?use cookies",
    r"(?:this|our) (?:web)?site uses cookies",
    r"(?:\w+ ){1,4}is part of the .{0,30}family",
    r"(?:welcome! )?(?:we )?need your consent",
    r"manage (?:your )?(?:cookie|privacy|consent)",
    r"wir (?:verwenden|nutzen|benötigen|schätzen ihre|und unsere)",
    r"bevor (?:du|sie) .{0,40}(?:fortf|weiter)",
    r"about your privacy",
    r"(?:cookie|privacy|datenschutz)[- ]?(?:settings|preferences|einstellungen)",
    r"(?:to continue,? )?(?:please )?(?:you (?:must|need to) )?"
    r"(?:accept|consent to|agree to)\b.{0,40}cookies",
    r"ihre privatsphäre",
    r"nous (?:utilisons|et nos)",
    r"avant (?:d.accéder|de continuer)",
    r"(?:le respect de )?votre vie privée",
    r"(?:nosotros y|utilizamos|usamos|valoramos)",
    r"antes de (?:continuar|ir)",
    r"(?:noi e|utilizziamo|usiamo)",
    r"prima di continuare",
    r"voordat je verder",
)
POLICY = _any("polic", "notice", "richtlinie", "erklärung", "politique", "política", "terms")
"""In the title of pages that tell of cookies, and ask nothing."""
ACCEPTS = _any(
    *("accept", "agree", "consent", "allow", "akzept", "zustimm", "einverstanden", "acceptez"),
    *("aceptar", "acepto", "accett", "acconsent", "akkoord", "godk"),
)
LOGIN_SAYS = _any(
    r"(?:please )?(?:log|sign) ?in\b",
    r"welcome back",
    *("anmelden", "einloggen", "(?:se )?connexion", "connectez", "iniciar sesión", "inicia sesión"),
    *(r"accedi\b", "inloggen", "войти", "вход", "登录", "ログイン"),
)
"""They count beside a field for a password only."""
LOGIN_FIRST_SAYS = _any(
    r"(?:please |you (?:must|need to|have to) )?(?:be )?(?:logged|log|signed|sign|join|register|"
    r"subscribe|create an? (?:free )?account)\b.{0,40}\bto "
    r"(?:continue|view|see|read|access|proceed)",
    r"(?:you (?:must|need to|have to) |please )(?:be logged|be signed|log ?in|sign ?in)",
    r"(?:login|log.in|sign.?in|authentication|registration|subscription) (?:is )?required",
    r"this (?:content|page|article|site) requires (?:you to |a )?"
    r"(?:log|sign|account|subscri|regist)",
    r"this (?:content|page|article) is (?:only )?(?:for|available to) "
    r"(?:subscribers|members|regist)",
)
TALK = {
    "bot": _any(
        *(
            "captcha",
            "human",
            "robot",
            r"\bbots?\b",
            "javascript",
            "cookie",
            "security",
            r"\bray id",
        ),
        *("reference", "incident", "browser", "traffic", "block", "verif", "cloudflare", "denied"),
        *("connection", "permission", "access", "automat", "network", "refresh", "challenge"),
        *("moment", "wait", "redirect", "support", "ip address", "administrator", "owner"),
        *("privacy", "terms"),
    ),
    "consent": _any(
        *(
            "cookie",
            "consent",
            "privacy",
            "partner",
            "personal",
            r"\bdata\b",
            "advert",
            r"\bads?\b",
        ),
        *("content", "device", "purpose", "preferen", "accept", "reject", "agree", "settings"),
        *("terms", "polic", "measur", "option", "choice", "langu", "sign in", "vendor", "continue"),
        *("privat", "daten", "werbung", "einwillig", "zustimm", "datenschutz", "partenaire"),
        *("données", "publicit", "datos", "privacid", "dati", "pubblicit", "more"),
    ),
    "login": _any(
        *("log ?in", "logged", "sign", "password", "account", "e-?mail", "user", "forgot"),
        *("remember", "regist", "join", "phone", "terms", "privacy", "cookie", "facebook"),
        *("google", "apple", "continue", "subscri", "member", "welcome", "free", "anmeld"),
        *("passwort", "konto", "mot de passe", "compte", "contraseña", "cuenta", "пароль", "密码"),
    ),
}
"""What the sentences of a wall are about; an article's are about other things as well."""
