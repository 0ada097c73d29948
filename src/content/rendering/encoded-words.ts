// RFC 2047 section 2: an encoded word has at most 75 characters, and a line that contains one at most 76.
const MAX_WORD = 75;
const MAX_LINE = 76;
const B_START = '=?utf-8?B?';
const Q_START = '=?utf-8?Q?';
const END = '?=';
/** RFC 2047 section 5 rule 3: characters allowed literally in a Q word of a display name, and so anywhere. */
const Q_LITERAL = /^[A-Za-z0-9!*+/-]$/;

/**
 * Writes text as encoded words (RFC 2047), never splitting a character, folded into lines. Text that is mostly ASCII
 * stays readable in Q (section 4).
 * @param column where in the line the words start
 */
export function encodeWords(text: string, column: number): string {
  const characters = Array.from(text);
  const ascii = characters.filter((character) => character <= '\x7f').length;
  return ascii * 2 > characters.length
    ? qWords(characters.map(qUnit), column)
    : bWords(characters, column);
}

function qUnit(character: string): string {
  if (character === ' ') return '_';
  if (Q_LITERAL.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '=$&');
}

function qWords(units: readonly string[], column: number): string {
  const words: string[] = [];
  let word = Q_START;
  for (const unit of units) {
    if (word.length + unit.length + END.length > wordCapacity(words.length, column)) {
      words.push(word + END);
      word = Q_START;
    }
    word += unit;
  }
  words.push(word + END);
  return words.join('\r\n ');
}

function bWords(characters: readonly string[], column: number): string {
  const words: string[] = [];
  let part = '';
  let octets = 0;
  for (const character of characters) {
    const more = Buffer.byteLength(character);
    const length = B_START.length + Math.ceil((octets + more) / 3) * 4 + END.length;
    if (length > wordCapacity(words.length, column)) {
      words.push(B_START + Buffer.from(part).toString('base64') + END);
      part = '';
      octets = 0;
    }
    part += character;
    octets += more;
  }
  words.push(B_START + Buffer.from(part).toString('base64') + END);
  return words.join('\r\n ');
}

/** Space for the next word: the first one continues the current line, others follow a single space. */
function wordCapacity(before: number, column: number): number {
  return Math.min(MAX_WORD, before === 0 ? MAX_LINE - column : MAX_LINE - 1);
}
