import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { callAnchor, problemAnchor, schemaAnchor, securityAnchor, tagAnchor } from './anchors.ts';
import { type ApiReference, Call, CallAddress, type CallProps, Example } from './call.tsx';
import type { ApiDocument, DocumentedProblem } from './document.ts';
import { divideSchemas, listCalls } from './named-schemas.ts';
import { Fields } from './schema-fields.tsx';
import { Line, Paragraphs } from './text.tsx';

type Calls = Omit<CallProps, 'reference'>[];

const sections = [
  ['authentication', 'Authentication'],
  ['schemas', 'Schemas'],
  ['problems', 'Problems'],
] as const;

function Contents({ tags, calls }: { tags: ApiDocument['tags']; calls: ReadonlyMap<string, Calls> }) {
  return (
    <nav className="api-contents" aria-label="Contents">
      <ul>
        {tags.map(({ name }) => (
          <li key={name}>
            <a href={`#${tagAnchor(name)}`}>{name}</a>
            <ul>
              {calls.get(name)?.map(({ call }) => (
                <li key={call.operationId}>
                  <a href={`#${callAnchor(call.operationId)}`}>{call.summary}</a>
                </li>
              ))}
            </ul>
          </li>
        ))}
        {sections.map(([id, title]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function TagSection({
  tag,
  calls,
  reference,
}: {
  tag: ApiDocument['tags'][number];
  calls: Calls;
  reference: ApiReference;
}) {
  return (
    <section id={tagAnchor(tag.name)} className="stack" aria-labelledby={`${tagAnchor(tag.name)}-title`}>
      <div>
        <h2 id={`${tagAnchor(tag.name)}-title`}>{tag.name}</h2>
        <p className="muted">{tag.description}</p>
      </div>
      <ul className="api-index">
        {calls.map(({ path, method, call }) => (
          <li key={call.operationId}>
            <a href={`#${callAnchor(call.operationId)}`}>
              <CallAddress method={method} path={path} />
            </a>
          </li>
        ))}
      </ul>
      {calls.map((one) => (
        <Call key={one.call.operationId} reference={reference} {...one} />
      ))}
    </section>
  );
}

/** How a caller shows who it is, and the scopes. */
function AuthenticationSection({ document }: { document: ApiDocument }) {
  return (
    <section id="authentication" className="card">
      <h2>Authentication</h2>
      {Object.entries(document.components.securitySchemes).map(([name, { type, scheme, description, flows = {} }]) => (
        <section key={name} id={securityAnchor(name)}>
          <h3>
            <code>{name}</code> <span className="api-type">{[type, scheme].filter(Boolean).join(', ')}</span>
          </h3>
          <p>
            <Line text={description} />
          </p>
          {Object.entries(flows).map(([flow, { scopes }]) => (
            <div key={flow}>
              <h4>{flow}</h4>
              <Definitions rows={Object.entries(scopes)} />
            </div>
          ))}
        </section>
      ))}
    </section>
  );
}

function Definitions({ rows }: { rows: readonly (readonly [name: string, text: string])[] }) {
  return (
    <dl className="api-fields">
      {rows.map(([name, text]) => (
        <div className="api-field" key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Line text={text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function SchemasSection({ document, names }: { document: ApiDocument; names: readonly string[] }) {
  return (
    <section id="schemas" className="stack">
      <h2>Schemas</h2>
      {names.map((name) => {
        const schema = document.components.schemas[name] ?? {};
        return (
          <article key={name} className="card api-call" id={schemaAnchor(name)}>
            <h3>
              <a href={`#${schemaAnchor(name)}`}>
                <code>{name}</code>
              </a>
            </h3>
            {schema.description !== undefined && <Paragraphs text={schema.description} />}
            <Fields schema={schema.items ?? schema} />
          </article>
        );
      })}
    </section>
  );
}

const toSentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function ProblemsSection({ problems }: { problems: readonly DocumentedProblem[] }) {
  return (
    <section id="problems" className="card">
      <h2>Problems</h2>
      <p>
        Errors are problem details (RFC 9457) in <code>application/problem+json</code>. Go by <code>status</code> and{' '}
        <code>type</code>: titles and details are texts for people.
      </p>
      {problems.map(({ name, type, status, title, cause, remedy }) => (
        <section key={name} id={problemAnchor(name)} className="api-problem">
          <h3>
            {status} {title}
          </h3>
          <p>
            <code>{type}</code>
          </p>
          <dl className="api-refusals">
            <div>
              <dt>Cause</dt>
              <dd>
                <Line text={toSentence(cause)} />
              </dd>
            </div>
            <div>
              <dt>What to do</dt>
              <dd>
                <Line text={toSentence(remedy)} />
              </dd>
            </div>
          </dl>
        </section>
      ))}
    </section>
  );
}

interface ApiReferencePageProps {
  ctx: PageContext;
  document: ApiDocument;
  problems: readonly DocumentedProblem[];
  /** Address of the document itself. */
  documentHref: string;
}

/** Every call of the JSON API, from its OpenAPI document: for people, without scripts. In English, like the document. */
export function ApiReferencePage({ ctx, document, problems, documentHref }: ApiReferencePageProps) {
  const { info, tags, servers } = document;
  const { atCalls, others } = divideSchemas(document);
  const reference = { document, problems, atCalls };
  const calls = Map.groupBy(listCalls(document), ({ call }) => call.tags[0] ?? '');
  return (
    <PlainLayout ctx={ctx} shape="wide" bare>
      <Stylesheet ctx={ctx} name="api-reference" />
      <div className="page-head">
        <h1>{info.title}</h1>
        <Paragraphs text={info.description} />
        <p>
          The same as an OpenAPI 3.1 document, for generators of clients: <a href={documentHref}>{documentHref}</a>
        </p>
        {servers.map(({ url }) => (
          <Example key={url} text={url} />
        ))}
      </div>
      <div className="api-reference">
        <Contents tags={tags} calls={calls} />
        <div className="stack">
          {tags.map((tag) => (
            <TagSection key={tag.name} tag={tag} calls={calls.get(tag.name) ?? []} reference={reference} />
          ))}
          <AuthenticationSection document={document} />
          <SchemasSection document={document} names={others} />
          <ProblemsSection problems={problems} />
        </div>
      </div>
    </PlainLayout>
  );
}
