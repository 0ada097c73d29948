import { TypesFailure } from './management-connection.ts';
import { type FieldShape, inOrder, type TemplateShape } from './template-shape.ts';

/** A JSON schema (2020-12), as far as templates need it. */
interface Schema {
  readonly type: 'string' | 'object' | 'array' | 'boolean';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

const pathPrefix = '/ete/v1/email/{account_id}/';
const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };

/**
 * An OpenAPI document of an account: the send operation for each template, with its fields. The same templates give the same
 * text, in whatever order they come.
 */
export function writeOpenapi(templates: readonly TemplateShape[]): string {
  const paths = inOrder(templates, ({ id }) => id).map(
    (template) => [`${pathPrefix}${template.id}`, { post: operationOf(template) }] as const,
  );
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Templates',
      version: '1',
      description: 'Written by `signalpost-client types` from the published templates.',
    },
    security: [{ key: [] }],
    paths: Object.fromEntries(paths),
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function operationOf({ id, fields, locales = [] }: TemplateShape): object {
  const account = { name: 'account_id', in: 'path', required: true, schema: text };
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: text };
  const accepted = objectOf({ messageId: text }, ['messageId']);
  return {
    operationId: `send-${id}`,
    parameters: [account, key],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: bodyOf(fields, locales) } },
    },
    responses: {
      200: { description: 'Accepted.', content: { 'application/json': { schema: accepted } } },
      default: { description: 'An error; its `details` name the fields.' },
    },
  };
}

/** The members of contract 2.2 that most programs send. */
function bodyOf(fields: readonly FieldShape[], locales: readonly string[]): Schema {
  const data = schemaOf(fields);
  const locale: Schema = { type: 'string', enum: inOrder(locales, (name) => name) };
  const content = objectOf(
    {
      personalizationDataMap: data,
      subjectLine: text,
      previewText: text,
      ...(locales.length === 0 ? {} : { locale }),
    },
    (data.required ?? []).length === 0 ? [] : ['personalizationDataMap'],
  );
  const envelope = {
    toAddress: text,
    toDisplayName: text,
    ccAddressList: { type: 'array', items: text },
    bccAddressList: { type: 'array', items: text },
    fromAddress: text,
    fromDisplayName: text,
    replyToAddress: text,
  } as const;
  const metadata = {
    transactional: flag,
    externalId: text,
    tagList: { type: 'array', items: text },
  } as const;
  const actions = { trackOpens: flag, trackClicks: flag, sendAt: text, deliverBefore: text };
  return objectOf(
    {
      envelope: objectOf(envelope, ['toAddress']),
      content,
      metadata: objectOf(metadata),
      actions: objectOf(actions, ['trackOpens', 'trackClicks']),
    },
    (content.required ?? []).length === 0
      ? ['envelope', 'actions']
      : ['envelope', 'content', 'actions'],
  );
}

function objectOf(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function schemaOf(fields: readonly FieldShape[]): Schema {
  const sorted = inOrder(fields, ({ name }) => name);
  return objectOf(
    Object.fromEntries(sorted.map((field) => [field.name, fieldSchema(field)])),
    sorted.filter(({ required }) => required).map(({ name }) => name),
  );
}

function fieldSchema({ kind, description, fields = [] }: FieldShape): Schema {
  const about = description ? { description } : {};
  if (kind === 'text') return { type: 'string', ...about };
  if (kind === 'list') return { type: 'array', ...about, items: schemaOf(fields) };
  return { ...schemaOf(fields), ...about };
}

/** Reads the templates of a generated document. @throws TypesFailure if the text is a different document */
export function readOpenapi(document: string): TemplateShape[] {
  try {
    const { paths } = JSON.parse(document) as { readonly paths: Readonly<Record<string, object>> };
    return Object.entries(paths).map(([path, item]) => {
      if (!path.startsWith(pathPrefix)) throw new TypeError(`${path} is another operation`);
      const { post } = item as { readonly post: { readonly requestBody: RequestBody } };
      const content = post.requestBody.content['application/json'].schema.properties?.content;
      const locales = content?.properties?.locale?.enum;
      return {
        id: path.slice(pathPrefix.length),
        fields: shapesOf(content?.properties?.personalizationDataMap ?? text),
        ...(locales === undefined ? {} : { locales }),
      };
    });
  } catch (cause) {
    throw new TypesFailure('is not an OpenAPI document that `types` wrote', { cause });
  }
}

interface RequestBody {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

function shapesOf({ properties = {}, required = [] }: Schema): FieldShape[] {
  return Object.entries(properties).map(([name, schema]) => {
    const kind = schema.type === 'array' ? 'list' : schema.type === 'object' ? 'object' : 'text';
    const { description } = schema;
    return {
      name,
      kind,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(kind === 'text' ? {} : { fields: shapesOf(schema.items ?? schema) }),
    };
  });
}
