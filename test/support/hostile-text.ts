import fc from 'fast-check';
import { codePoint } from './code-point.ts';

const FRAGMENTS =
  `<script>alert(1)</script> "> '> --> <!-- ]]> </title> </style> </textarea> <svg/onload=x> &lt; &amp; &#x3c; &
  javascript:alert(1) data:text/html,x vbscript:x //evil.test \\\\evil.test https://ok.test/ http://a.test?b=c&d=e mailto:a@b.test
  JaVaScRiPt: java\tscript: %0d%0a %00 ../../ # ? : ; ) url(x) expression(x) }body{ {{First}} {{{Raw}}} {{#A}} =?utf-8?Q?x?= =?utf-8?B?eA==?=
  Bcc:victim@evil.test , <evil@evil.test> "quoted" \\" ( ) [ ] @ =3D =20 = == .`.split(/\s+/);
const BREAKS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\r\n.\r\n',
  '\r\nBcc: x@evil.test\r\n',
  '\u2028',
  '\u0085',
  '\u000b',
  ' ',
  '\t',
  '  ',
];

/** Injection attempts among arbitrary text; well formed and without NUL, as in accepted requests. */
export function hostileText(maxParts = 8): fc.Arbitrary<string> {
  const part = fc.oneof(
    fc.constantFrom(...FRAGMENTS),
    fc.constantFrom(...BREAKS),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({ unit: codePoint, maxLength: 6 }),
    fc.constantFrom(
      'é',
      '漢字',
      '😀',
      'e\u0301',
      '\u200d',
      '\ufeff',
      'ß',
      'x'.repeat(90),
      '漢'.repeat(40),
    ),
  );
  return fc
    .array(part, { maxLength: maxParts })
    .map((parts) => parts.join('').toWellFormed().replaceAll('\0', ''));
}
