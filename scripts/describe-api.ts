/** The subset of OpenAPI 3.1 schemas that client types need. */
interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
  readonly allOf?: readonly ApiSchema[];
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly additionalProperties?: boolean | ApiSchema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: ApiSchema }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: ApiSchema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, ApiSchema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Generates the types for `openapi-fetch` from an OpenAPI document.
 * @param prefix only includes paths with this prefix, which is removed from their names
 */
export function describeApi(document: Document, prefix: string): string {
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `export type ${typeName(name)} = ${describe(schema)};\n`,
  );
  const paths = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(prefix))
    .map(([path, item]) => {
      const operations = methods.flatMap((method) => {
        const operation = item[method] as Operation | undefined;
        if (operation === undefined) return [];
        const shared = (item.parameters ?? []) as readonly Parameter[];
        return [`    ${method}: ${describeOperation(document, operation, shared)};\n`];
      });
      return `  ${JSON.stringify(path.slice(prefix.length))}: {\n${operations.join('')}  };\n`;
    });
  return [
    '// Generated from the OpenAPI document by `npm run generated`.\n\n',
    ...schemas,
    `\nexport interface paths {\n${paths.join('')}}\n`,
  ].join('');
}

function describeOperation(
  document: Document,
  operation: Operation,
  shared: readonly Parameter[],
): string {
  const parameters = [...shared, ...(operation.parameters ?? [])].map((parameter) =>
    parameter.$ref === undefined
      ? parameter
      : (document.components?.parameters?.[lastPart(parameter.$ref)] ?? parameter),
  );
  const groups = (['path', 'query'] as const).flatMap((place) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) return [];
    const members = own.map(
      ({ name, required, schema }) =>
        `${JSON.stringify(name)}${required === true ? '' : '?'}: ${describe(schema ?? {})}`,
    );
    const optional = own.some(({ required }) => required === true) ? '' : '?';
    return [`${place}${optional}: { ${members.join('; ')} }`];
  });
  const { requestBody } = operation;
  const body =
    requestBody === undefined
      ? ''
      : `requestBody${requestBody.required === true ? '' : '?'}: ${describeContent(requestBody)}; `;
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => `${status}: ${describeContent(response)}`,
  );
  return `{ parameters: { ${groups.join('; ')} }; ${body}responses: { ${responses.join('; ')} } }`;
}

function describeContent({ content }: Content): string {
  if (content === undefined) return '{ content?: never }';
  const kinds = Object.entries(content).map(
    ([type, { schema }]) => `${JSON.stringify(type)}: ${describe(schema ?? {})}`,
  );
  return `{ content: { ${kinds.join('; ')} } }`;
}

/** The TypeScript type of a schema. */
function describe(schema: ApiSchema): string {
  if (schema.$ref !== undefined) return typeName(lastPart(schema.$ref));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return union(options.map(describe));
  if (schema.allOf !== undefined)
    return schema.allOf.map((part) => `(${describe(part)})`).join(' & ');
  if (typeof schema.type === 'object')
    return union(schema.type.map((type) => describe({ ...schema, type })));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${describe(schema.items ?? {})})[]`;
    case 'object':
      return describeObject(schema);
    default:
      return 'unknown';
  }
}

function describeObject({ properties, required, additionalProperties }: ApiSchema): string {
  if (properties === undefined) {
    const value =
      typeof additionalProperties === 'object' ? describe(additionalProperties) : 'unknown';
    return `Record<string, ${value}>`;
  }
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${JSON.stringify(name)}${required?.includes(name) === true ? '' : '?'}: ${describe(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}

function union(types: readonly string[]): string {
  return types.length === 0 ? 'never' : `(${[...new Set(types)].join(' | ')})`;
}

function lastPart(ref: string): string {
  return ref.split('/').at(-1) ?? ref;
}

function typeName(name: string): string {
  return name.replaceAll(/\W/g, '_');
}
