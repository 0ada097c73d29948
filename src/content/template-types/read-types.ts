import { TypesFailure } from './management-connection.ts';
import type { FieldShape, TemplateShape } from './template-shape.ts';

/** Blanks, comments, strings, names, and single characters. */
const token =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|[A-Za-z_$][\w$]*|[\s\S])/gy;

const maxDepth = 20;

/**
 * Reads a file that `writeTypes` wrote, even after a formatter changed its quotes, commas or line breaks.
 * @throws TypesFailure if it is none
 */
export function readTypes(text: string): TemplateShape[] {
  return new TypesReader(text).templates();
}

class TypesReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(token)].flatMap(([, found]) =>
      found === undefined ? [] : [found],
    );
  }

  templates(): TemplateShape[] {
    for (const word of ['export', '{', '}']) this.#take(word);
    this.#skip(';');
    this.#take('declare');
    this.#take('module');
    if (this.#string() !== 'signalpost-client') throw unreadable();
    for (const word of ['{', 'interface', 'Templates']) this.#take(word);
    const templates = this.#members((id) => this.#template(id));
    this.#take('}');
    if (this.#at < this.#tokens.length) throw unreadable();
    return templates;
  }

  #template(id: string): TemplateShape {
    let fields: readonly FieldShape[] = [];
    let locales: readonly string[] = [];
    this.#members((name) => {
      if (name === 'data') fields = this.#object(0);
      else if (name === 'locale') locales = this.#locales();
      else throw unreadable();
    });
    return { id, fields, locales };
  }

  #members<Member>(read: (name: string, required: boolean) => Member): Member[] {
    this.#take('{');
    const members: Member[] = [];
    while (!this.#skip('}')) {
      const name = this.#name();
      const required = !this.#skip('?');
      this.#take(':');
      members.push(read(name, required));
      if (!this.#skip(';')) this.#skip(',');
    }
    return members;
  }

  #object(depth: number): FieldShape[] {
    if (depth > maxDepth) throw unreadable();
    if (this.#skip('Record')) {
      for (const word of ['<', 'string', ',', 'never', '>']) this.#take(word);
      return [];
    }
    return this.#members((name, required) => ({ name, required, ...this.#type(depth) }));
  }

  #type(depth: number): Pick<FieldShape, 'kind' | 'fields'> {
    if (this.#skip('string')) return { kind: 'text' };
    const isList = this.#skip('readonly');
    const fields = this.#object(depth + 1);
    if (!isList) return { kind: 'object', fields };
    this.#take('[');
    this.#take(']');
    return { kind: 'list', fields };
  }

  #locales(): string[] {
    if (this.#skip('never')) return [];
    this.#skip('|');
    const locales = [this.#string()];
    while (this.#skip('|')) locales.push(this.#string());
    return locales;
  }

  #name(): string {
    const found = this.#tokens[this.#at];
    if (found === undefined || !/^[A-Za-z_$]/.test(found)) return this.#string();
    this.#at += 1;
    return found;
  }

  #string(): string {
    const found = this.#tokens[this.#at] ?? '';
    this.#at += 1;
    if (found.length < 2 || !/^['"]/.test(found)) throw unreadable();
    return found
      .slice(1, -1)
      .replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_all, unit?: string, other?: string) =>
        unit === undefined ? (other ?? '') : String.fromCharCode(Number.parseInt(unit, 16)),
      );
  }

  #take(word: string): void {
    if (!this.#skip(word)) throw unreadable();
  }

  #skip(word: string): boolean {
    if (this.#tokens[this.#at] !== word) return false;
    this.#at += 1;
    return true;
  }
}

function unreadable(): TypesFailure {
  return new TypesFailure('isn’t a file that this command wrote. Run it without --check');
}
