import { Chip } from '../parts/chip.tsx';
import { callAnchor, problemAnchor, schemaAnchor, securityAnchor } from './anchors.ts';
import { curlCommand } from './curl.ts';
import type { ApiDocument, DocumentedCall, DocumentedProblem, DocumentedSchema } from './document.ts';
import { contentSchema, listCallProblemTypes, refName } from './named-schemas.ts';
import { Fields, TypeName } from './schema-fields.tsx';
import { Line, Paragraphs } from './text.tsx';

/** The input of every part of the page. */
export interface ApiReference {
  document: ApiDocument;
  problems: readonly DocumentedProblem[];
  /** Named schemas that are shown at their call. */
  atCalls: ReadonlySet<string>;
}

export interface CallProps {
  reference: ApiReference;
  path: string;
  method: string;
  call: DocumentedCall;
}

/** Method and path. */
export function CallAddress({ method, path }: { method: string; path: string }) {
  return (
    <span>
      <Chip tone={method === 'get' ? 'ok' : 'accent'}>{method.toUpperCase()}</Chip>{' '}
      <code>
        {path.split('/').map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a path never change their order
          <span key={at}>
            {at > 0 && '/'}
            <wbr />
            {part}
          </span>
        ))}
      </code>
    </span>
  );
}

/** The schemes that open the call, each with the scopes any one of which is enough. */
function Credentials({ security }: Pick<DocumentedCall, 'security'>) {
  const scopes = new Map<string, string[]>();
  for (const [name, listed] of security.flatMap((one) => Object.entries(one)))
    scopes.set(name, [...(scopes.get(name) ?? []), ...listed]);
  const isOpen = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  return (
    <p className="api-type">
      Credentials:{' '}
      {[...scopes].map(([name, listed], at) => (
        <span key={name}>
          {at > 0 && ', '}
          <a href={`#${securityAnchor(name)}`}>{name}</a>
          {listed.length > 0 && ' with '}
          {listed.map((scope, position) => (
            <span key={scope}>
              {position > 0 && ' or '}
              <code>{scope}</code>
            </span>
          ))}
        </span>
      ))}
      {isOpen && (scopes.size > 0 ? ', or none' : 'none')}
    </p>
  );
}

function Parameters({ parameters }: { parameters: NonNullable<DocumentedCall['parameters']> }) {
  const places = { path: 'in the path', query: 'in the query', header: 'in a header' };
  return (['path', 'query', 'header'] as const).map((place) => {
    const placed = parameters.filter((one) => one.in === place);
    if (placed.length === 0) return null;
    const schema: DocumentedSchema = {
      properties: Object.fromEntries(
        placed.map(({ name, description, schema: type, example }) => [
          name,
          {
            ...type,
            ...(description !== undefined && { description }),
            ...(example !== undefined && { examples: [example] }),
          },
        ]),
      ),
      required: placed.filter(({ required }) => required).map(({ name }) => name),
    };
    return (
      <section key={place}>
        <h4>Parameters {places[place]}</h4>
        <Fields schema={schema} />
      </section>
    );
  });
}

/** A body or an answer: its fields if no other call has it, and otherwise the link to its schema. */
function Body({ reference, schema }: { reference: ApiReference; schema: DocumentedSchema }) {
  const name = refName(schema);
  const named = name === undefined ? undefined : reference.document.components.schemas[name];
  if (name === undefined || named === undefined || !reference.atCalls.has(name)) {
    return (
      <p className="api-type">
        <TypeName schema={schema} />
      </p>
    );
  }
  return (
    <div id={schemaAnchor(name)}>
      <p className="api-type">
        <code>{name}</code>
      </p>
      {named.description !== undefined && <Paragraphs text={named.description} />}
      <Fields schema={named.items ?? named} />
    </div>
  );
}

export const Example = ({ text }: { text: string }) => (
  <pre className="api-example">
    <code>{text}</code>
  </pre>
);

/** Every refusal with its problem types, or the schema of its body where that is no problem. */
function Refusals({ reference: { document, problems }, call }: Pick<CallProps, 'reference' | 'call'>) {
  const types = new Set(listCallProblemTypes(document, call));
  const own = problems.filter(({ type }) => types.has(type));
  const refusals = Object.entries(call.responses).filter(([status]) => status !== '200');
  return (
    <dl className="api-refusals">
      {refusals.map(([status, { description, content }]) => {
        const causes = own.filter((problem) => String(problem.status) === status);
        const schema = content['application/problem+json'] ? undefined : contentSchema(content);
        return (
          <div key={status}>
            <dt>{status}</dt>
            <dd>
              <Line text={description} />
              {causes.map(({ name }, at) => (
                <span key={name}>
                  {at === 0 ? ': ' : ', '}
                  <a href={`#${problemAnchor(name)}`}>{name}</a>
                </span>
              ))}
              {schema && (
                <>
                  : <TypeName schema={schema} />
                </>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

export function Call({ reference, path, method, call }: CallProps) {
  const { operationId, summary, description, security, parameters, requestBody, responses } = call;
  const { 'x-aliases': aliases = [] } = call;
  const [server] = reference.document.servers;
  const body = contentSchema(requestBody?.content);
  const answer = responses['200']?.content;
  const answerSchema = contentSchema(answer);
  const [example] = Object.values(answer ?? {}).map((one) => one.example);
  return (
    <article
      className="card api-call"
      id={callAnchor(operationId)}
      aria-labelledby={`${callAnchor(operationId)}-title`}
    >
      <header>
        <h3 id={`${callAnchor(operationId)}-title`}>
          <a href={`#${callAnchor(operationId)}`}>{summary}</a>
        </h3>
        <p>
          <CallAddress method={method} path={path} />
        </p>
      </header>
      <Paragraphs text={description} />
      <Credentials security={security} />
      <p className="api-type">
        Operation: <code>{operationId}</code>
        {aliases.length > 0 && (
          <>
            , also <code>{aliases.join(', ')}</code>
          </>
        )}
      </p>
      {parameters && <Parameters parameters={parameters} />}
      <section>
        <h4>Request</h4>
        {body && <Body reference={reference} schema={body} />}
        <Example text={curlCommand({ path, method, call }, server?.url ?? '')} />
      </section>
      {answerSchema && (
        <section>
          <h4>Answer</h4>
          <Body reference={reference} schema={answerSchema} />
          {example !== undefined && <Example text={JSON.stringify(example, null, 2)} />}
        </section>
      )}
      <section>
        <h4>Refusals</h4>
        <Refusals reference={reference} call={call} />
      </section>
    </article>
  );
}
