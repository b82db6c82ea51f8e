/** Rules that clients of openapi-generator, oapi-codegen, openapi-typescript and hey-api need, found by walking. */

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const toNodes = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const typesIn = ({ type }: Node): unknown[] => (Array.isArray(type) ? type : [type]);
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** The faults of one schema, by itself. */
function schemaFaults(schema: Node, isRoot: boolean): string[] {
  const types = typesIn(schema);
  const choices = [...toNodes(schema.anyOf), ...toNodes(schema.oneOf)].filter(({ type }) => type !== 'null');
  const kinds = new Set(choices.flatMap(typesIn));
  return [
    ...(schema.type === 'null' ? ['only null'] : []),
    ...(typeof schema.const === 'boolean' ? ['a boolean constant'] : []),
    ...(types.includes('integer') && schema.format !== 'int64' ? ['an integer without format'] : []),
    ...(types.includes('number') && schema.format !== 'double' ? ['a number without format'] : []),
    ...([schema.minimum, schema.maximum].some((bound) => Math.abs(Number(bound)) === Number.MAX_SAFE_INTEGER)
      ? ['a bound of 2^53']
      : []),
    ...(kinds.size > 1 ? [`a union of ${[...kinds].join(' and ')}`] : []),
    ...(isNode(schema.properties) && !isRoot ? ['a model without a name'] : []),
    ...(choices.length > 1 && !isRoot ? ['a choice without a name'] : []),
  ];
}

/** The faults of a schema and of all within it. `isRoot`: it is a named one. */
function walkSchema(schema: Node, path: string, isRoot: boolean): string[] {
  const own = schemaFaults(schema, isRoot).map((fault) => `${path}: ${fault}`);
  const properties = isNode(schema.properties) ? Object.entries(schema.properties) : [];
  const inner = properties.flatMap(([name, property]) => {
    if (!isNode(property)) return [`${path}.${name}: no schema`];
    // A named schema has its own description.
    const isDescribed =
      isText(property.description) || isText(property.$ref) || toNodes(property.anyOf).some((one) => isText(one.$ref));
    return [
      ...(isDescribed ? [] : [`${path}.${name}: no description`]),
      ...walkSchema(property, `${path}.${name}`, false),
    ];
  });
  const others = [schema.items, schema.additionalProperties, ...toNodes(schema.anyOf), ...toNodes(schema.oneOf)]
    .filter(isNode)
    .filter(({ type }) => type !== 'null')
    .flatMap((one) => walkSchema(one, `${path}[]`, false));
  return [...own, ...inner, ...others];
}

const contents = (node: unknown): [string, Node][] =>
  isNode(node) && isNode(node.content) ? Object.entries(node.content).map(([type, one]) => [type, Object(one)]) : [];

function operationFaults(operation: Node, path: string): string[] {
  const { responses, requestBody, operationId } = operation;
  const answers = isNode(responses) ? Object.entries(responses) : [];
  const success = answers.filter(([status]) => status.startsWith('2')).flatMap(([, answer]) => contents(answer));
  const bodies = contents(requestBody);
  const missing = ['summary', 'description'].filter((name) => !isText(operation[name]));
  const parameters = toNodes(operation.parameters);
  return [
    ...missing.map((name) => `${path}: no ${name}`),
    ...(Array.isArray(operation.tags) && operation.tags.length === 1 ? [] : [`${path}: not one tag`]),
    ...(/^[a-z]+[A-Z]\w+$/.test(String(operationId)) ? [] : [`${path}: ${operationId} is no verb and noun`]),
    ...[...bodies, ...success]
      .filter(([, one]) => !('example' in one))
      .map(([type]) => `${path}: no example of ${type}`),
    ...[...bodies, ...answers.flatMap(([, answer]) => contents(answer))].flatMap(([type, { schema }]) =>
      walkSchema(Object(schema), `${path} ${type}`, false),
    ),
    ...parameters
      .filter((one) => !isText(one.description) || !('example' in one))
      .map(({ name }) => `${path}: ${name} has no description or example`),
    ...parameters.flatMap((one) => walkSchema(Object(one.schema), `${path} ${one.name}`, false)),
  ];
}

/** Every place of the schemas of answers, named ones included, that refuses members that it does not name. */
function closedAnswers(document: Node): string[] {
  const { schemas } = Object(document.components) as { schemas: Node };
  const seen = new Set<unknown>();
  const closed: string[] = [];
  const look = (node: unknown, path: string): void => {
    if (Array.isArray(node)) for (const one of node) look(one, path);
    if (!isNode(node) || seen.has(node)) return;
    seen.add(node);
    if (node.additionalProperties === false) closed.push(`${path}: an answer that refuses new members`);
    if (typeof node.$ref === 'string') look(schemas[node.$ref.split('/').at(-1) ?? ''], node.$ref);
    for (const [name, value] of Object.entries(node)) look(value, `${path}.${name}`);
  };
  for (const [path, methods] of Object.entries(Object(document.paths)))
    for (const operation of Object.values(Object(methods))) look(Object(operation).responses, path);
  return closed;
}

/** All faults of an OpenAPI document, as texts with their place. */
export function documentFaults(document: Node): string[] {
  const { schemas } = Object(document.components) as { schemas: Record<string, Node> };
  const operations = Object.entries(Object(document.paths)).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
  return [
    ...operations.flatMap(({ name, operation }) => operationFaults(Object(operation), name)),
    ...Object.entries(schemas).flatMap(([name, schema]) => walkSchema(schema, name, true)),
    ...Object.keys(Object(document.paths))
      .filter((path) => path.endsWith('/'))
      .map((path) => `${path}: a slash at the end`),
    ...closedAnswers(document),
  ];
}
