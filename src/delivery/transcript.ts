const maxLineLength = 500;
const firstLines = 60;
const lastLines = 20;

interface Entry {
  readonly tnx?: unknown;
}

/**
 * Records an SMTP dialogue, bounded and without credentials or message text. Implements the logger interface that the
 * connection expects.
 */
export class Transcript {
  #head: string[] = [];
  #tail: string[] = [];
  #cut = 0;
  /** While true, the client is sending a credential. */
  secret = false;

  /** Adds our own note about the connection. */
  record(text: string): void {
    this.#add(`* ${text}`);
  }

  /** Returns and clears what was recorded since the last call. */
  drain(): string[] {
    const lines =
      this.#cut === 0
        ? [...this.#head, ...this.#tail]
        : [...this.#head, `* ${this.#cut} lines omitted`, ...this.#tail];
    this.#head = [];
    this.#tail = [];
    this.#cut = 0;
    return lines;
  }

  debug(entry: Entry, message?: unknown): void {
    if (typeof message !== 'string') return;
    if (entry.tnx === 'server')
      for (const line of message.split(/\r?\n/, 200)) this.#add(`< ${line}`);
    else if (entry.tnx === 'client') this.#add(`> ${this.#withoutSecret(message)}`);
  }

  trace(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
  fatal(): void {}

  #withoutSecret(line: string): string {
    const command = /^AUTH\s+\S+/i.exec(line)?.[0];
    if (command !== undefined) return `${command} ***`;
    return this.secret ? '***' : line;
  }

  #add(line: string): void {
    const cut = line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength)}…`;
    if (this.#head.length < firstLines) {
      this.#head.push(cut);
      return;
    }
    this.#tail.push(cut);
    if (this.#tail.length > lastLines) {
      this.#tail.shift();
      this.#cut += 1;
    }
  }
}
