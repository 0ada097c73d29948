/** Characters of a document that are read. */
const maxLength = 100_000;
const unread = /<(style|script|head|title)\b/i;
const breaking = /^<\/?(br|p|div|tr|li|ul|ol|table|td|h[1-6]|pre|hr)\b/i;
const entities: ReadonlyMap<string, string> = new Map([
  ['nbsp', ' '],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['amp', '&'],
]);

/** The words of a document, in lines; enough to look for phrases in it. One pass, so its length alone decides the time. */
export function stripHtml(document: string): string {
  const html = document.slice(0, maxLength);
  let text = '';
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag === -1) return text + decodeEntities(html.slice(at));
    text += decodeEntities(html.slice(at, tag));
    const isComment = html.startsWith('<!--', tag);
    const end = html.indexOf(isComment ? '-->' : '>', tag);
    if (end === -1) return text;
    const start = html.slice(tag, Math.min(end, tag + 12));
    at = end + (isComment ? 3 : 1);
    if (breaking.test(`${start} `)) text += '\n';
    const [, element] = unread.exec(`${start} `) ?? [];
    if (element === undefined || isComment) continue;
    const closing = new RegExp(`</${element}`, 'gi');
    closing.lastIndex = at;
    at = closing.exec(html)?.index ?? html.length;
  }
  return text;
}

function decodeEntities(text: string): string {
  return text
    .replace(/&(?:#(\d{1,6})|([a-z]{2,5}));/gi, (whole, code?: string, name?: string) =>
      code === undefined
        ? (entities.get((name ?? '').toLowerCase()) ?? whole)
        : String.fromCodePoint(Math.min(Number(code), 0xfffd)),
    )
    .replace(/[ \t]+/g, ' ');
}
