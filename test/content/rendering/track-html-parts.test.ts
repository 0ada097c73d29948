import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findUntrackable } from '../../../src/content/message/raw-html.ts';
import { mapHtmlPartsJob as mapHtmlParts } from '../../../src/content/rendering/map-html-parts-job.ts';
import { changeHtmlParts, planChanges } from '../../../src/content/rendering/track-html-parts.ts';
import { alternativeBody } from '../../support/alternative-body.ts';
import { assertQuick } from '../../support/assert-quick.ts';
import { readSentMail } from '../../support/read-mail.ts';

const tracking = {
  rewriteUrl: (url: string, index: number) =>
    `https://t.test/c/${index}/${Buffer.from(url).toString('base64url')}`,
  hiddenLink: '<a href="https://t.test/c/hidden"></a>',
  bodyEnd: '<img src="https://t.test/o.gif">',
};

function track(message: string, encoding: BufferEncoding = 'latin1'): string {
  const source = Buffer.from(message, encoding);
  const changes = planChanges(mapHtmlParts({ source }), tracking);
  return changeHtmlParts(source, changes).toString('latin1');
}

const base64 = (text: string | Buffer): string =>
  `${Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`;

/** A message of one part. */
function htmlMail(html: string | Buffer, head = '', charset = 'utf-8'): string {
  return `Subject: x\r\nContent-Type: text/html; charset=${charset}\r\n${head}\r\n${html}`;
}

/** A part as it is between two delimiters, split where tracking can change it. */
interface Piece {
  readonly bytes: string;
  readonly isHtml: boolean;
}

const bodyLine = fc.string({
  unit: fc.constantFrom(...'abc .-=<>"&;:/\u00e9\u00ff'.split('')),
  maxLength: 90,
});
const text = fc.array(bodyLine, { maxLength: 6 }).map((lines) => lines.join('\r\n'));
const leafHead = fc.constantFrom(
  'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n',
  'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n',
  'Content-Type: text/html\r\nContent-Disposition: attachment\r\n',
  'Content-Type: text/html; name="page.html"\r\n',
  'Content-Type: message/rfc822\r\n\r\nContent-Type: text/html\r\n',
  'content-type:\r\n image/png\r\n',
  '',
);
const otherLeaf = fc
  .tuple(leafHead, text)
  .map(([head, body]): readonly Piece[] => [{ bytes: `${head}\r\n${body}`, isHtml: false }]);
const htmlLeaf = fc
  .tuple(fc.constantFrom('7bit', '8bit', 'quoted-printable', 'base64'), text)
  .map(([encoding, body]): readonly Piece[] => [
    {
      bytes: `Content-Type: text/html\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}<p>`,
      isHtml: true,
    },
  ]);

let boundaries = 0;

function multipart(parts: readonly (readonly Piece[])[]): readonly Piece[] {
  boundaries += 1;
  const boundary = `=_b${boundaries}_`;
  const head = `Content-Type: multipart/mixed;\r\n boundary="${boundary}"\r\n\r\npreamble\r\n`;
  return [
    { bytes: head, isHtml: false },
    ...parts.flatMap((part) => [
      { bytes: `--${boundary}\r\n`, isHtml: false },
      ...part,
      { bytes: '\r\n', isHtml: false },
    ]),
    { bytes: `--${boundary}--\r\nepilogue`, isHtml: false },
  ];
}

function tree(leaf: fc.Arbitrary<readonly Piece[]>): fc.Arbitrary<readonly Piece[]> {
  const inner = fc.array(leaf, { minLength: 1, maxLength: 4 }).map(multipart);
  return fc
    .array(fc.oneof(leaf, inner), { minLength: 1, maxLength: 4 })
    .map(multipart)
    .map(([first, ...rest]) => [
      { bytes: `Subject: ü\r\n${first?.bytes ?? ''}`, isHtml: false },
      ...rest,
    ]);
}

const join = (pieces: readonly Piece[]): string => pieces.map(({ bytes }) => bytes).join('');

test('without HTML, a message stays byte for byte', () => {
  fc.assert(
    fc.property(tree(otherLeaf), (pieces) => {
      assert.equal(track(join(pieces)), join(pieces));
    }),
  );
});

test('all parts that aren’t HTML stay byte for byte, and all that are get the image', () => {
  fc.assert(
    fc.property(tree(fc.oneof(otherLeaf, htmlLeaf)), (pieces) => {
      let rest = track(join(pieces));
      let fixed = '';
      let html: string | undefined;
      const take = (): void => {
        const at = html === undefined ? 0 : rest.indexOf(fixed);
        assert.ok(rest.startsWith(fixed, at), fixed);
        if (html !== undefined) assert.notEqual(rest.slice(0, at), html);
        rest = rest.slice(at + fixed.length);
        fixed = '';
      };
      for (const piece of pieces) {
        if (!piece.isHtml) fixed += piece.bytes;
        else {
          take();
          html = piece.bytes;
        }
      }
      take();
      assert.equal(rest, '');
    }),
  );
});

const alternatives = (html: string, encoding: string): string =>
  `From: a@shop.test\r\n${alternativeBody(html, encoding)}`;

const page =
  '<html><body><p>Grüße</p><a href="https://shop.test/?a=1&amp;b=ü">a</a><a href=http://shop.test/x>b</a></body></html>';
const encoded = {
  base64: base64(page),
  'quoted-printable': page.replaceAll('=', '=3D').replaceAll('ü', '=C3=BC').replace('ß', '=C3=9F'),
  '8bit': Buffer.from(page).toString('latin1'),
};

for (const [encoding, html] of Object.entries(encoded))
  test(`a mail program reads tracked HTML in ${encoding} as before, with other targets`, async () => {
    const tracked = track(alternatives(html, encoding));
    assert.match(tracked, new RegExp(`Content-Transfer-Encoding: ${encoding}\r\n`));
    const { html: read = '', text } = readSentMail(Buffer.from(tracked, 'latin1'));
    assert.equal(
      String(read).trimEnd(),
      page
        .replace(
          'https://shop.test/?a=1&amp;b=ü',
          tracking.rewriteUrl('https://shop.test/?a=1&b=ü', 0),
        )
        .replace('http://shop.test/x', `"${tracking.rewriteUrl('http://shop.test/x', 1)}"`)
        .replace('</body>', `${tracking.hiddenLink}${tracking.bodyEnd}</body>`),
    );
    assert.equal(text?.trimEnd(), 'See https://shop.test/a');
  });

test('lines that become too long are encoded', async () => {
  const link = `<a href="https://shop.test/${'x'.repeat(700)}">x</a>`;
  const tracked = track(htmlMail(link));
  assert.match(tracked, /Content-Transfer-Encoding: quoted-printable\r\n/);
  assert.ok(tracked.split('\r\n').every((line) => line.length < 100));
  const { html = '' } = readSentMail(tracked);
  assert.ok(String(html).includes('https://t.test/c/0/'));
});

test('what isn’t a link of the page, or says so, isn’t tracked', () => {
  const html = [
    '<link href="https://shop.test/a.css"><base href="https://shop.test/">',
    '<a href="https://shop.test/off" data-track="off">x</a>',
    '<a href="mailto:a@shop.test">x</a><a href="/relative">x</a><a href="#end">x</a>',
    '<!-- <a href="https://shop.test/comment">x</a> -->',
    '<script>"<a href=https://shop.test/script>"</script>',
  ].join('\r\n');
  assert.equal(track(htmlMail(html)), htmlMail(`${html}${tracking.bodyEnd}`));
});

test('links that only Outlook reads are tracked', () => {
  const tracked = track(htmlMail('<!--[if mso]><a href="https://shop.test/o">x</a><![endif]-->'));
  assert.ok(tracked.includes(tracking.rewriteUrl('https://shop.test/o', 0)));
});

test('text in another charset stays as it is, and targets in it are read', () => {
  for (const [charset, bytes, target] of [
    ['iso-8859-1', Buffer.from('<p>é</p><a href="http://shop.test/é">', 'latin1'), 'é'],
    ['windows-1251', Buffer.from('<p>\xe9</p><a href="http://shop.test/\xe9">', 'latin1'), 'й'],
    [
      'shift_jis',
      Buffer.from('<p>\x83\x5c</p><a href="http://shop.test/\x83\x5c">', 'latin1'),
      'ソ',
    ],
  ] as const) {
    assert.equal(findUntrackable(Buffer.from(htmlMail('x', '', charset))), undefined);
    const source = htmlMail(bytes.toString('latin1'), '', charset);
    const tracked = track(source);
    const at = bytes.indexOf('</p>');
    assert.ok(tracked.includes(bytes.toString('latin1', 0, at)), charset);
    assert.ok(tracked.includes(tracking.rewriteUrl(`http://shop.test/${target}`, 0)), charset);
  }
});

for (const [why, message, expected] of [
  [
    'is signed',
    'Content-Type: multipart/signed; boundary=b; protocol="application/pgp-signature"\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b--\r\n',
    /signed or encrypted message \(multipart\/signed\)/,
  ],
  [
    'is encrypted',
    'Content-Type: multipart/encrypted; boundary=b\r\n\r\n--b--\r\n',
    /\(multipart\/encrypted\)/,
  ],
  [
    'is signed within',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: application/pkcs7-mime; name=smime.p7m\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n',
    /\(application\/pkcs7-mime\)/,
  ],
  ['has HTML in UTF-16', htmlMail('x', '', 'utf-16'), /charset utf-16; use UTF-8/],
  ['has HTML in ISO-2022-JP', htmlMail('x', '', 'iso-2022-jp'), /charset iso-2022-jp/],
  ['has HTML in UTF-7', htmlMail('x', '', 'utf-7'), /charset utf-7/],
  [
    'has HTML in an unknown encoding',
    htmlMail('x', 'Content-Transfer-Encoding: x-uuencode\r\n'),
    /encoding x-uuencode; use quoted-printable/,
  ],
  ['has very much HTML', htmlMail('x'.repeat(600_000)), /more than 512 KiB of HTML/],
] as const)
  test(`a message that ${why} can’t be tracked, and isn’t changed`, () => {
    assert.match(findUntrackable(Buffer.from(message)) ?? '', expected);
    if (!why.includes('much')) assert.equal(track(message), message);
  });

test('the HTML of a message that is attached stays as it is', () => {
  const message =
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: text/html\r\n\r\n<a href="http://shop.test/">\r\n--b--\r\n';
  assert.equal(track(message), message);
});

test('hostile HTML takes no longer than usual HTML of its size', () => {
  const size = 500_000;
  const distinct = Array.from({ length: 60_000 }, (_, at) => `a${at}`).join(' ');
  const repeated = ['<a ', 'a', '<a href="http://a">', '<!--[if', ' a=1', '<', '="', "'>"];
  for (const html of [
    `<p ${distinct}>`,
    ...repeated.map((piece) => piece.repeat(size / piece.length)),
  ])
    assertQuick(5_000, () => track(htmlMail(html)));
});
