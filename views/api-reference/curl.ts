import type { DocumentedCall, DocumentedContent } from './document.ts';

/** For a shell: a text between apostrophes. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function formFields(example: unknown): string {
  const fields = Object.entries(Object(example)).map(([name, value]): [string, string] => [name, asText(value)]);
  return new URLSearchParams(fields).toString();
}

/** The options of curl for a body. */
function bodyOptions(content: DocumentedContent): string[] {
  const [[type, { example }] = ['', { example: undefined }]] = Object.entries(content);
  if (type === 'application/x-www-form-urlencoded') return [`-d ${quoted(formFields(example))}`];
  return [`-H 'Content-Type: ${type}'`, `-d ${quoted(JSON.stringify(example, null, 2) ?? '')}`];
}

/** The address of the example: with the parameters that the call needs. */
function exampleAddress(path: string, { parameters = [] }: DocumentedCall): string {
  const needed = parameters.filter(({ required }) => required);
  const examples = new Map(needed.map((one) => [one.name, asText(one.example)]));
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(examples.get(name) ?? name));
  const query = needed.filter((one) => one.in === 'query').map(({ name }) => [name, examples.get(name) ?? '']);
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}

/** The call as a command of a shell, with its example. */
export function curlCommand(
  { path, method, call }: { path: string; method: string; call: DocumentedCall },
  serverUrl: string,
): string {
  const { security, requestBody } = call;
  const [scheme] = security.flatMap((one) => Object.keys(one));
  const credentials = scheme === 'client' ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : ['-H "Authorization: Bearer $TOKEN"'];
  const hasDefaultMethod = requestBody === undefined ? method === 'get' : method === 'post';
  const parts = [
    `curl ${hasDefaultMethod ? '' : `-X ${method.toUpperCase()} `}${quoted(serverUrl + exampleAddress(path, call))}`,
    ...(scheme === undefined ? [] : credentials),
    ...(requestBody ? bodyOptions(requestBody.content) : []),
  ];
  return parts.join(' \\\n  ');
}
