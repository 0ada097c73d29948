import { TypesFailure } from '../../template-types/management-connection.ts';
import type { MarkupLanguage } from './convert-markup.ts';

export const products = ['postmark', 'resend', 'sendgrid', 'mailgun'] as const;
export type Product = (typeof products)[number];

/** A template as another product has it. */
export interface ProductTemplate {
  readonly id: string;
  readonly name: string;
  readonly subject: string;
  readonly previewText?: string | undefined;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  /** Default values, by field. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Parts of the template that aren't imported. */
  readonly notes: readonly string[];
}

export const languages: Readonly<Record<Product, MarkupLanguage>> = {
  postmark: 'mustachio',
  resend: 'variables',
  sendgrid: 'handlebars',
  mailgun: 'handlebars',
};

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a product's API responses for its templates.
 * @param files name and parsed JSON
 * @throws TypesFailure naming the file that isn't such a response
 */
export function readProductTemplates(
  product: Product,
  files: readonly (readonly [name: string, json: unknown])[],
): ProductTemplate[] {
  const layouts = new Map(
    files
      .map(([, json]) => json as Json)
      .filter((json) => product === 'postmark' && json?.TemplateType === 'Layout')
      .map((json) => [json.Alias, json]),
  );
  return files.flatMap(([name, json]) => {
    if (!isJson(json)) throw unknownFile(product, name);
    if (layouts.get(json.Alias) === json) return [];
    const template = readers[product](json, layouts);
    if (template === undefined) throw unknownFile(product, name);
    return [{ ...template, id: idOf(template.id, template.name) }];
  });
}

const responses: Readonly<Record<Product, string>> = {
  postmark: 'GET /templates/{id}',
  resend: 'GET /templates/{id}',
  sendgrid: 'GET /v3/templates/{id}',
  mailgun: 'GET /v3/{domain}/templates/{name}?active=yes',
};

function unknownFile(product: Product, name: string): TypesFailure {
  return new TypesFailure(`${name} isn’t what ${product} returns for ${responses[product]}`);
}

type Reader = (json: Json, layouts: ReadonlyMap<unknown, Json>) => ProductTemplate | undefined;

const readers: Readonly<Record<Product, Reader>> = {
  postmark(json, layouts) {
    if (typeof json.Subject !== 'string') return undefined;
    const layout = layouts.get(json.LayoutTemplate);
    const notes =
      typeof json.LayoutTemplate === 'string' && layout === undefined
        ? [`its layout ${json.LayoutTemplate} is not among the files, so its content is missing`]
        : [];
    return {
      id: textOf(json.Alias) ?? String(json.TemplateId ?? ''),
      name: textOf(json.Name) ?? '',
      subject: json.Subject,
      html: within(textOf(layout?.HtmlBody), textOf(json.HtmlBody)),
      text: within(textOf(layout?.TextBody), textOf(json.TextBody)),
      defaults: {},
      notes,
    };
  },
  resend(json) {
    const html = textOf(json.html);
    if (html === undefined) return undefined;
    const variables = Array.isArray(json.variables) ? json.variables.filter(isJson) : [];
    const withDefault = variables.filter(({ fallback_value: value }) => value != null);
    const name = textOf(json.name) ?? '';
    return {
      id: textOf(json.alias) ?? textOf(json.id) ?? '',
      name,
      subject: textOf(json.subject) ?? name,
      html,
      text: textOf(json.text),
      defaults: Object.fromEntries(
        withDefault.map(({ key, fallback_value: value }) => [String(key), String(value)]),
      ),
      notes: textOf(json.subject) === undefined ? ['it has no subject; its name is used'] : [],
    };
  },
  sendgrid(json) {
    const versions = Array.isArray(json.versions) ? json.versions.filter(isJson) : [];
    const version = versions.find(({ active }) => active === 1) ?? versions[0];
    if (version === undefined) return undefined;
    return {
      id: '',
      name: textOf(json.name) ?? '',
      subject: textOf(version.subject) ?? textOf(json.name) ?? '',
      html: textOf(version.html_content),
      // Generated ones are generated here, too.
      text: version.generate_plain_content === true ? undefined : textOf(version.plain_content),
      defaults: {},
      notes:
        json.generation === 'legacy' ? ['it is a legacy template; its -tags- are text here'] : [],
    };
  },
  mailgun(json) {
    const template = isJson(json.template) ? json.template : undefined;
    const version = isJson(template?.version) ? template.version : undefined;
    if (template === undefined || version === undefined) return undefined;
    const headers = isJson(version.headers) ? version.headers : {};
    const subject = textOf(headers.Subject);
    const isHtml = /<\w+[\s>]/.test(textOf(version.template) ?? '');
    return {
      id: textOf(template.name) ?? '',
      name: textOf(template.name) ?? '',
      subject: subject ?? textOf(template.description) ?? textOf(template.name) ?? '',
      [isHtml ? 'html' : 'text']: textOf(version.template),
      defaults: {},
      notes: [
        ...(subject === undefined ? ['it has no subject; its description or name is used'] : []),
        ...(/%recipient\.|%unsubscribe/.test(textOf(version.template) ?? '')
          ? ['its %…% variables are text here; make them fields']
          : []),
      ],
    };
  },
};

function within(layout: string | undefined, content: string | undefined): string | undefined {
  if (layout === undefined || content === undefined) return content;
  return layout.replace(/\{\{\{?\s*@content\s*\}?\}\}/, () => content);
}

/** The ID of a template here: letters, digits, `-` and `_`. */
function idOf(id: string, name: string): string {
  const found = (id === '' ? name : id).normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const text = found.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return text.slice(0, 64).toLowerCase() || 'template';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
