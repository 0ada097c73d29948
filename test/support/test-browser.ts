import { type DefaultTreeAdapterMap, parse } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

/** A form of a page: its target, its initial values and what it tells scripts. */
interface PageForm {
  readonly action: string;
  /** Its `data-…` attributes. */
  readonly data: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** A page as a browser without scripts sees it. */
export interface VisitedPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The target of a redirect, resolved against the page. */
  readonly location: string | undefined;
  readonly forms: readonly PageForm[];
}

/** A browser without scripts: keeps cookies, fills in forms, and follows redirects only within the service. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, headers: Readonly<Record<string, string>> = {}) {
    this.#origin = origin;
    this.#headers = headers;
  }

  /** Opens a URL and follows redirects within the service. */
  async open(address: string): Promise<VisitedPage> {
    return this.#follow(await this.request(address));
  }

  /** Submits a form of a page with values filled in. */
  async submit(
    page: VisitedPage,
    values: Readonly<Record<string, string>> = {},
    action?: string,
  ): Promise<VisitedPage> {
    const form = page.forms.find((it) => action === undefined || it.action.startsWith(action));
    if (form === undefined) throw new Error(`the page at ${page.url} has no form ${action ?? ''}`);
    const target = new URL(form.action, page.url).href;
    return this.#follow(await this.request(target, { ...form.fields, ...values }));
  }

  /** Sends one request without following redirects. */
  async request(address: string, form?: Readonly<Record<string, string>>): Promise<VisitedPage> {
    const url = new URL(address, this.#origin).href;
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.#headers, ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(url, {
      redirect: 'manual',
      headers:
        form === undefined
          ? headers
          : {
              origin: this.#origin,
              ...headers,
              'content-type': 'application/x-www-form-urlencoded',
            },
      ...(form === undefined
        ? {}
        : { method: 'POST', body: new URLSearchParams({ ...form }).toString() }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      this.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const text = await response.text();
    const location = response.headers.get('location');
    return {
      url,
      status: response.status,
      headers: response.headers,
      text,
      location: location === null ? undefined : new URL(location, url).href,
      forms: readForms(parse(text)),
    };
  }

  async #follow(page: VisitedPage): Promise<VisitedPage> {
    let at = page;
    for (let hops = 0; at.location?.startsWith(`${this.#origin}/`) && hops < 10; hops += 1)
      at = await this.request(at.location);
    return at;
  }
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name)?.value;
}

function* elementsOf(node: Node): Generator<Element> {
  if ('tagName' in node) yield node;
  if ('childNodes' in node) for (const child of node.childNodes) yield* elementsOf(child);
}

function readForms(document: Node): PageForm[] {
  return [...elementsOf(document)]
    .filter(({ tagName }) => tagName === 'form')
    .map((form) => {
      const fields: Record<string, string> = {};
      for (const input of elementsOf(form)) {
        const name = attribute(input, 'name');
        const type = attribute(input, 'type');
        const chosen = type !== 'radio' || attribute(input, 'checked') !== undefined;
        if (input.tagName === 'input' && name !== undefined && chosen)
          fields[name] = attribute(input, 'value') ?? '';
      }
      const data = Object.fromEntries(
        form.attrs
          .filter(({ name }) => name.startsWith('data-'))
          .map(({ name, value }) => [name.slice('data-'.length), value]),
      );
      return { action: attribute(form, 'action') ?? '', data, fields };
    });
}
