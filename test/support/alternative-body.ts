/** The Content-Type and body of a message with a text and HTML, of which only the HTML varies. @param html in this encoding */
export function alternativeBody(html: string, encoding: string): string {
  return [
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'See https://shop.test/a',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    html,
    '--b--',
    '',
  ].join('\r\n');
}
