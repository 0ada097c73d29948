/** What a status link shows. */
export interface Progress {
  readonly state: string;
  /** A sentence in the reader's language. */
  readonly text: string;
  /** The domain of the recipient. */
  readonly provider?: string;
  /** Since when (RFC 3339). */
  readonly at: string;
  readonly nextTryAt?: string;
  readonly resendAt?: string;
  /** Nothing more is going to happen. */
  readonly final: boolean;
}

const labels: Readonly<Record<string, string>> = {
  en: 'Send again',
  de: 'Erneut senden',
  fr: 'Renvoyer',
  es: 'Reenviar',
};

const css = `:host{display:block;color:var(--signalpost-status-color,inherit)}:host([hidden]),[hidden]{display:none}time{margin-inline-start:.5em}button{font:inherit;margin-block-start:.75em;padding:.4em .8em;border:1px solid;border-radius:.4em;color:var(--signalpost-status-button-color,inherit);background:var(--signalpost-status-button-background,transparent)}`;

const pollMs = 5_000;

// A server that renders pages has no elements.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * `<signalpost-status src="…">`: the delivery of a message, in a sentence that updates itself. `src` is a `statusUrl`; the language is
 * that of the page. After the time that the request chose, a button appears, which dispatches `resend`; its label can be given as
 * content. Each change dispatches `status` with the `Progress`, and sets the attribute `state`.
 */
export class SignalpostStatus extends Base {
  static readonly observedAttributes: readonly string[] = ['src'];
  readonly #text: HTMLElement;
  readonly #time: HTMLTimeElement;
  readonly #button: HTMLButtonElement;
  #following: AbortController | undefined;
  #resendTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    const add = <Name extends keyof HTMLElementTagNameMap>(
      parent: Node,
      name: Name,
      part?: string,
    ): HTMLElementTagNameMap[Name] => {
      const element = parent.appendChild(document.createElement(name));
      if (part !== undefined) element.part.add(part);
      return element;
    };
    // Policies of pages can refuse style elements.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    const line = add(root, 'div');
    line.setAttribute('role', 'status');
    this.#text = add(line, 'span', 'text');
    this.#time = add(line, 'time', 'time');
    this.#button = add(root, 'button', 'resend');
    this.#button.type = 'button';
    this.#button.append(document.createElement('slot'));
    this.#button.onclick = () => {
      this.#button.hidden = true;
      this.#dispatch('resend');
    };
  }

  connectedCallback(): void {
    const following = new AbortController();
    this.#following = following;
    const language =
      this.closest<HTMLElement>('[lang]')?.lang ||
      document.documentElement.lang ||
      navigator.language;
    (this.#button.firstChild as Element).textContent =
      labels[language.slice(0, 2).toLowerCase()] ?? 'Send again';
    this.#button.hidden = true;
    this.#text.textContent = this.#time.textContent = '';
    const src = this.getAttribute('src');
    if (src) {
      const url = new URL(src, document.baseURI);
      url.searchParams.set('lang', language);
      follow(url, following.signal, (progress) => this.#show(progress));
    }
  }

  disconnectedCallback(): void {
    this.#following?.abort();
    clearTimeout(this.#resendTimer);
    this.#resendTimer = undefined;
  }

  attributeChangedCallback(): void {
    if (!this.isConnected) return;
    this.disconnectedCallback();
    this.connectedCallback();
  }

  #show(progress: Progress): void {
    const { state, text, at, resendAt } = progress;
    this.setAttribute('state', state);
    this.#text.textContent = text;
    this.#time.dateTime = at;
    this.#time.textContent = new Date(at).toLocaleTimeString();
    // Once, so that the button stays away after it was used.
    if (resendAt)
      this.#resendTimer ??= setTimeout(() => {
        this.#button.hidden = false;
      }, Date.parse(resendAt) - Date.now());
    this.#dispatch('status', progress);
  }

  #dispatch(name: string, detail?: Progress): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** Calls `show` with each progress until it is final: from server-sent events, or by polling where they don't arrive. */
function follow(url: URL, signal: AbortSignal, show: (progress: Progress) => void): void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    source?.close();
    clearTimeout(timer);
  };
  const poll = async (): Promise<void> => {
    stop();
    let waitMs = pollMs;
    try {
      const response = await fetch(url, { signal });
      const { status } = response;
      if (status === 404) return;
      if (status === 200 || status === 410) {
        const progress: Progress = await response.json();
        show(progress);
        if (progress.final) return;
      }
      waitMs = Math.max(waitMs, Number(response.headers.get('retry-after')) * 1_000);
    } catch {
      // The connection broke.
    }
    if (!signal.aborted) timer = setTimeout(poll, waitMs);
  };
  signal.addEventListener('abort', stop);
  if (!globalThis.EventSource) {
    poll();
    return;
  }
  source = new EventSource(url);
  timer = setTimeout(poll, pollMs);
  source.onmessage = ({ data }) => {
    const progress: Progress = JSON.parse(data);
    clearTimeout(timer);
    show(progress);
    if (progress.final) stop();
  };
  source.onerror = () => {
    if (source?.readyState === EventSource.CLOSED) poll();
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'signalpost-status': SignalpostStatus;
  }
}

if (globalThis.customElements && !customElements.get('signalpost-status'))
  customElements.define('signalpost-status', SignalpostStatus);
