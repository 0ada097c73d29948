import fc from 'fast-check';
import { anyChange } from './mutate-value.ts';

export interface AnyBody {
  /** Built when it is sent, so that many large bodies aren't in memory at once. */
  readonly bytes: () => Buffer;
  readonly type: string | undefined;
}

const fillings = [
  'blanks',
  'string',
  'quotes',
  'emoji',
  'surrogates',
  'braces',
  'items',
  'members',
  'deep arrays',
  'deep objects',
  'digits',
  'junk',
] as const;
type Filling = (typeof fillings)[number];

const otherTypes = [
  undefined,
  '',
  'text/plain',
  'text/csv',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json',
  `x/${'y'.repeat(500)}`,
];

/** A size from 0 to a limit, with every order of magnitude equally likely, or exactly the limit, or one byte more. */
function anySize(limit: number): fc.Arbitrary<number> {
  const within = fc
    .double({ min: 0, max: Math.log(limit + 1), noNaN: true })
    .map((exponent) => Math.min(limit, Math.floor(Math.exp(exponent)) - 1));
  return fc.oneof(
    { arbitrary: within, weight: 8 },
    { arbitrary: fc.constantFrom(limit, limit + 1), weight: 1 },
  );
}

/** Bodies of a kind: valid ones from `allowed`, mutated, padded to a size, or something else entirely. */
export function anyBody(
  allowed: fc.Arbitrary<unknown>,
  kind: 'json' | 'form' | 'csv',
  limit: number,
): fc.Arbitrary<AnyBody> {
  const expectedType = {
    json: 'application/json',
    form: 'application/x-www-form-urlencoded',
    csv: 'text/csv',
  }[kind];
  const type = fc.oneof(
    { arbitrary: fc.constant<string | undefined>(expectedType), weight: 12 },
    { arbitrary: fc.constantFrom(...otherTypes), weight: 1 },
  );
  const size = fc.option(anySize(limit), { freq: 2 });
  const changes = fc.array(anyChange, { maxLength: 2 });
  const filling = fc.constantFrom(...fillings);
  return fc
    .tuple(allowed, changes, size, filling, type)
    .map(([value, mutations, bytes, fill, contentType]) => ({
      type: contentType,
      bytes: () => {
        const changed = mutations.reduce((whole, change) => change(whole), value);
        const text = kind === 'json' ? JSON.stringify(changed) : asForm(changed);
        const start = kind === 'csv' ? `email,${text}\n` : text;
        return bytes === null ? Buffer.from(start) : grow(start, bytes, fill, kind);
      },
    }));
}

function asForm(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value).toWellFormed();
  return Object.entries(value)
    .map(([name, member]) => {
      const text = typeof member === 'string' ? member : JSON.stringify(member);
      return `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text.toWellFormed())}`;
    })
    .join('&');
}

/** The text padded to a size with some filling; a longer text stays as long as it is. */
function grow(start: string, size: number, fill: Filling, kind: string): Buffer {
  const missing = size - Buffer.byteLength(start);
  if (fill === 'junk') return Buffer.alloc(size, '\xff\0{"\n\x80,&=%', 'latin1');
  if (missing <= 0) return Buffer.from(start);
  if (kind !== 'json') return Buffer.from(start + repeat(plainUnits[fill], missing));
  if (fill === 'blanks') return Buffer.from(start + ' '.repeat(missing));
  if (fill === 'digits') return Buffer.from(fit('', '9', '', size));
  if (fill === 'deep arrays') return Buffer.from(fit('', '[', ']', size));
  if (fill === 'deep objects') return Buffer.from(fit('', '{"a":', '}', size).replace(':}', ':1}'));
  if (fill === 'items') return Buffer.from(`[${fit(start, `,${start}`, '', size)}]`);
  return Buffer.from(growMember(start, missing, fill));
}

/** Puts the padding into the first string of a JSON value, or beside its members. */
function growMember(start: string, missing: number, fill: Filling): string {
  if (fill === 'members') {
    const members = Array.from(
      { length: Math.floor(missing / 11) },
      (_, at) => `"${String(at).padStart(7, 'n')}":1`,
    ).join(',');
    if (!start.endsWith('}')) return `{${members}}`;
    return `${start.slice(0, -1)}${start === '{}' || members === '' ? '' : ','}${members}}`;
  }
  const text = repeat(jsonUnits[fill] ?? 'x', missing);
  const grown = start.replace(/:"/, () => `:"${text}`);
  return grown === start ? `{"name":"${text}"}` : grown;
}

const jsonUnits: Partial<Record<Filling, string>> = {
  string: 'x',
  quotes: '\\"',
  emoji: '😀',
  surrogates: '\\ud800',
  braces: '{{Order Number}}',
};

const plainUnits: Record<Filling, string> = {
  blanks: ' ',
  string: 'x',
  quotes: '"',
  emoji: '%F0%9F%98%80',
  surrogates: '%ED%A0%80',
  braces: '{{a}}',
  items: '&a=b',
  members: ',a\n"b"',
  'deep arrays': '&a[a][a]=b',
  'deep objects': '%',
  digits: '9',
  junk: '',
};

function repeat(unit: string, size: number): string {
  return unit.repeat(Math.floor(size / Buffer.byteLength(unit)));
}

function fit(start: string, open: string, close: string, size: number): string {
  const left = Math.max(0, size - Buffer.byteLength(start));
  const times = Math.floor(left / (Buffer.byteLength(open) + close.length));
  return start + open.repeat(times) + close.repeat(times);
}
