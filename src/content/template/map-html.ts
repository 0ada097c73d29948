import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** A range of characters in which a field's value can be inserted as escaped HTML. */
export interface TextRange {
  readonly kind: 'text';
  readonly start: number;
  readonly end: number;
  /** A section must begin and end in the same scope: the document, one `<title>` or one conditional comment. */
  readonly scope: string;
  /** False where markup has no meaning or only Outlook reads it; raw fields are escaped there. */
  readonly markup: boolean;
}

/** The value of an attribute, without quotes. */
export interface AttributeRange {
  readonly kind: 'attribute';
  readonly start: number;
  readonly end: number;
  readonly element: string;
  readonly name: string;
  /** Only a quoted value may contain fields. */
  readonly quoted: boolean;
  /** Character references resolved. */
  readonly value: string;
  /** The element's other attributes by lowercase name. */
  readonly siblings: ReadonlyMap<string, string>;
}

export interface HtmlMap {
  /** Ordered by `start`, without overlap. Fields are not allowed outside these ranges. */
  readonly ranges: readonly (TextRange | AttributeRange)[];
  /** Describes what is at an offset outside the ranges. */
  describe(offset: number): string;
  /** Offset after the `<body>` tag, or where the content begins if there is no such tag. */
  readonly bodyStart: number;
  /** Offset of `</body>`, or the end. */
  readonly bodyEnd: number;
}

interface RejectedRange {
  readonly start: number;
  readonly end: number;
  readonly what: string;
}

const RAW_TEXT = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes']);
const PLAIN_CONTENT = new Set(['title', 'textarea']);

/** Outlook reads the content of `<!--[if …]> … <![endif]-->`; every other client treats it as a comment. */
const CONDITIONAL = /^<!--\[if[^\]]*\]>([\s\S]*)<!\[endif\]-->$/;

const noLinkElements = new Set(['link', 'base']);

/** True for what a reader can follow. */
export function isLinkTarget({ name, element }: AttributeRange): boolean {
  return name === 'href' && !noLinkElements.has(element);
}

/** True if the author of the link doesn't want it to be tracked. */
export function isTrackingOff({ siblings }: AttributeRange): boolean {
  return siblings.get('data-track')?.trim().toLowerCase() === 'off';
}

/** How the tokenizer reads the content of an element in which tags have no meaning; undefined: they have one. */
export function contentState(tagName: string): Tokenizer['state'] | undefined {
  if (PLAIN_CONTENT.has(tagName)) return TokenizerMode.RCDATA;
  if (tagName === 'script') return TokenizerMode.SCRIPT_DATA;
  if (tagName === 'plaintext') return TokenizerMode.PLAINTEXT;
  return RAW_TEXT.has(tagName) ? TokenizerMode.RAWTEXT : undefined;
}

/** Of one tag; the tokenizer compares each with all before it. Nothing can be inserted into further ones. */
const maxAttributes = 500;

export class BoundedTokenizer extends Tokenizer {
  protected override _leaveAttrName(): void {
    const { currentToken } = this;
    const attributes = currentToken !== null && 'attrs' in currentToken ? currentToken.attrs : [];
    if (attributes.length < maxAttributes) super._leaveAttrName();
  }
}

/**
 * Uses the tokenizer of the HTML standard to classify each position of a document. A range is always text between tags
 * or the value of an attribute, so no value can change how the document is parsed.
 */
export function mapHtml(html: string): HtmlMap {
  const mapper = new HtmlMapper(html);
  mapper.run(html, 0, 'document', true);
  return mapper;
}

class HtmlMapper implements HtmlMap {
  readonly ranges: (TextRange | AttributeRange)[] = [];
  readonly #rejected: RejectedRange[] = [];
  readonly #html: string;
  bodyStart = 0;
  bodyEnd: number;
  #bodySeen = false;

  constructor(html: string) {
    this.#html = html;
    this.bodyEnd = html.length;
  }

  describe(offset: number): string {
    const found = this.#rejected.findLast((range) => range.start <= offset && offset < range.end);
    return found?.what ?? 'an incomplete tag';
  }

  /** Tokenizes a part of the document that starts at `base`. */
  run(part: string, base: number, scope: string, markup: boolean): void {
    let inside = '';
    const tokenizer = new BoundedTokenizer(
      { sourceCodeLocationInfo: true },
      {
        onCharacter: (token) => this.#text(token, base, inside, scope, markup),
        onWhitespaceCharacter: (token) => this.#text(token, base, inside, scope, markup),
        onNullCharacter: () => {},
        onStartTag: (token) => {
          this.#startTag(token, base);
          if (scope === 'document') this.#openBody(token);
          const state = contentState(token.tagName);
          if (state === undefined) inside = '';
          else {
            tokenizer.state = state;
            inside = `${token.tagName}@${base + (token.location?.startOffset ?? 0)}`;
          }
        },
        onEndTag: (token) => {
          inside = '';
          this.#reject(token, base, 'a closing tag');
          if (scope === 'document') this.#closeBody(token);
        },
        onComment: (token) => this.#comment(token, base),
        onDoctype: (token) => {
          this.#reject(token, base, 'the doctype');
          if (scope === 'document') this.#contentFrom(token);
        },
        onEof: () => {},
      },
    );
    tokenizer.write(part, true);
  }

  #openBody(token: Token.TagToken): void {
    if (token.tagName === 'html' || token.tagName === 'body') this.#contentFrom(token);
    if (token.tagName === 'body') this.#bodySeen = true;
  }

  #closeBody(token: Token.TagToken): void {
    if (token.tagName === 'head') this.#contentFrom(token);
    else if (token.tagName === 'body') this.bodyEnd = token.location?.startOffset ?? this.bodyEnd;
  }

  /** The content begins after this token, unless there was a `<body>` tag before. */
  #contentFrom(token: Token.Token): void {
    if (!this.#bodySeen) this.bodyStart = token.location?.endOffset ?? this.bodyStart;
  }

  #reject(token: Token.Token, base: number, what: string): void {
    const { location } = token;
    if (location === null) return;
    const [start, end] = [base + location.startOffset, base + location.endOffset];
    this.#rejected.push({ start, end, what });
  }

  #text(
    token: Token.CharacterToken,
    base: number,
    inside: string,
    scope: string,
    markup: boolean,
  ): void {
    const element = inside.slice(0, inside.indexOf('@'));
    if (inside !== '' && !PLAIN_CONTENT.has(element)) {
      this.#reject(token, base, `<${element}>`);
      return;
    }
    const { location } = token;
    if (location === null) return;
    const [start, end] = [base + location.startOffset, base + location.endOffset];
    const own = inside === '' ? scope : inside;
    const last = this.ranges.at(-1);
    if (last?.kind === 'text' && last.end === start && last.scope === own) {
      this.ranges[this.ranges.length - 1] = { ...last, end };
    } else {
      this.ranges.push({ kind: 'text', start, end, scope: own, markup: markup && inside === '' });
    }
  }

  #startTag(token: Token.TagToken, base: number): void {
    this.#reject(token, base, `the tag <${token.tagName}>, outside a quoted attribute value`);
    const siblings = new Map(token.attrs.map(({ name, value }) => [name.toLowerCase(), value]));
    for (const { name, value } of token.attrs) {
      const location = token.location?.attrs?.[name];
      if (location === undefined) continue;
      const [start, end] = [base + location.startOffset, base + location.endOffset];
      const written = /^[^=]*=\s*(["']?)/.exec(this.#html.slice(start, end));
      if (written === null) continue;
      const quote = written[1] ?? '';
      this.ranges.push({
        kind: 'attribute',
        start: start + written[0].length,
        end: end - quote.length,
        quoted: quote !== '',
        element: token.tagName,
        name: name.toLowerCase(),
        value,
        siblings,
      });
    }
  }

  #comment(token: Token.CommentToken, base: number): void {
    this.#reject(token, base, 'a comment');
    const { location } = token;
    if (location === null) return;
    const start = base + location.startOffset;
    const whole = this.#html.slice(start, base + location.endOffset);
    const inner = CONDITIONAL.exec(whole)?.[1];
    if (inner === undefined) return;
    const innerBase = start + whole.indexOf(']>') + 2;
    this.run(inner, innerBase, `conditional@${start}`, false);
  }
}
