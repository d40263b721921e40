/** What a click in the page does, unless a policy blocks it. */
export interface Attack {
  /** The text of the element. */
  readonly name: string
  /** How Chromium reports that it has blocked this. Undefined: it reports nothing. */
  readonly blocked?: RegExp
  /** Chromium without windows reports nothing. */
  readonly quiet?: true
  /** The frame shows an error of the browser instead of the page afterwards. */
  readonly leaves?: true
}

const FRAMED = /Framing 'http:.*' violates .* "frame-src 'self'"/

export const ATTACKS: readonly Attack[] = [
  { name: 'handler' },
  { name: 'javascript', blocked: /Running the JavaScript URL violates/ },
  { name: 'form', blocked: /Blocked form submission to 'http:.*\/form'/ },
  { name: 'api', blocked: /Blocked form submission to '\/api\/session\/links'/ },
  { name: 'top', blocked: /Unsafe attempt to initiate navigation .* 'allow-top-navigation'/ },
  { name: 'popup', blocked: /Blocked opening 'http:.*\/popup' in a new window/ },
  { name: 'data', blocked: /Download is disallowed/, quiet: true },
  // The frame may navigate itself: the policy of the console allows only pages of the console in it. For Chromium a
  // download from another host is a navigation.
  { name: 'download', blocked: FRAMED, leaves: true },
  { name: 'self', blocked: FRAMED, leaves: true },
]

/** What the page requests when it is opened, unless a policy blocks it. */
export const LOADS = ['image', 'style', 'frame', 'object', 'video', 'background', 'font', 'fetch', 'refresh']

/** How Chromium reports that it has blocked these, and the script of the page. */
export const BLOCKED_LOADS = [
  /Blocked script execution in .* 'allow-scripts' permission is not set/,
  /Loading the (?:image|stylesheet|font) 'http:[^']*' violates/,
  /Loading (?:media from|plugin data from) +'http:[^']*' violates/,
  /Framing 'http:[^']*' violates .* "default-src 'none'"/,
  /Refused to execute the redirect specified via '<meta http-equiv='refresh'/,
]

/** An HTML artifact that attacks the console, and sends requests to `other`. `refresh`: it leaves at once. */
export const hostilePage = (other: string, refresh = true): string => `<!doctype html>
<title>A hostile report</title>
${refresh ? `<meta http-equiv="refresh" content="0;url=${other}/refresh">` : ''}
<link rel="stylesheet" href="${other}/style">
<style>
  @font-face { font-family: far; src: url(${other}/font) }
  h1 { font-family: far; background: url(${other}/background) }
</style>
<h1>A hostile report</h1>
<script>top.__pwned = 1; fetch('${other}/fetch', { mode: 'no-cors' })</script>
<img src="${other}/image" alt="">
<iframe src="${other}/frame"></iframe>
<object data="${other}/object"></object>
<video src="${other}/video"></video>
<p><button type="button" onclick="top.__pwned = 1">handler</button>
<p><a href="javascript:void(top.__pwned = 1)">javascript</a>
<form action="${other}/form" method="post"><button>form</button></form>
<form action="/api/session/links" method="post"><button>api</button></form>
<p><a href="${other}/top" target="_top">top</a>
<p><a href="${other}/popup" target="_blank">popup</a>
<p><a href="${other}/download" download>download</a>
<p><a href="data:text/plain,a%20program" download="setup.exe">data</a>
<p><a href="${other}/self">self</a>
`
