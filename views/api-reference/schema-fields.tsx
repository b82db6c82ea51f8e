import type { ReactNode } from 'react';
import { schemaAnchor } from './anchors.ts';
import type { DocumentedSchema } from './document.ts';
import { refName } from './named-schemas.ts';
import { Line } from './text.tsx';

const listTypes = ({ type }: DocumentedSchema): string[] => [type ?? []].flat();

/** `1 to 100`, `at least 1`, `at most 100`; undefined without a limit. */
function range(min: unknown, max: unknown, unit = ''): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  if (min === max) return `${min}${unit}`;
  if (min === undefined) return `at most ${max}${unit}`;
  return max === undefined ? `at least ${min}${unit}` : `${min} to ${max}${unit}`;
}

/** The rules for the values of a schema, besides their type. */
function listRules({ minLength, maxLength, minimum, maximum, minItems, maxItems, pattern }: DocumentedSchema) {
  return [
    range(minLength, maxLength, ' characters'),
    range(minimum, maximum),
    range(minItems, maxItems, ' items'),
    pattern === undefined ? undefined : `pattern \`${pattern}\``,
  ].filter((rule) => rule !== undefined);
}

const separated = (parts: readonly ReactNode[], separator: string): ReactNode =>
  parts.map((part, at) => [at > 0 && separator, part]);

function SchemaLink({ name }: { name: string }) {
  return (
    <a href={`#${schemaAnchor(name)}`}>
      <code>{name}</code>
    </a>
  );
}

/** The type of a schema: `list of User`, `string (email) or null`. */
export function TypeName({ schema }: { schema: DocumentedSchema }): ReactNode {
  const name = refName(schema);
  if (name !== undefined) return <SchemaLink name={name} />;
  const { anyOf, enum: values, items, format } = schema;
  if (anyOf) {
    return separated(
      anyOf.map((one) => <TypeName key={JSON.stringify(one)} schema={one} />),
      ' or ',
    );
  }
  if (values) {
    const texts = values.map((value) => JSON.stringify(value));
    return separated(
      texts.map((text) => <code key={text}>{text}</code>),
      ', ',
    );
  }
  if (items) {
    return (
      <>
        list of <TypeName schema={items} />
      </>
    );
  }
  const types = listTypes(schema);
  const words = types.length === 0 ? 'any value' : types.join(' or ');
  return typeof format === 'string' ? `${words} (${format})` : words;
}

/** The schema whose fields are shown below a field: of an object, or of the objects in a list. */
const inner = (schema: DocumentedSchema): DocumentedSchema => schema.items ?? schema;

function Field({ name, schema, required }: { name: string; schema: DocumentedSchema; required: boolean }) {
  const { description, examples = [], enum: values } = schema;
  const [example] = examples;
  const rules = listRules(schema);
  return (
    <div className="api-field">
      <dt>
        <code>{name}</code>
        {required && <span className="api-required">required</span>}
      </dt>
      <dd>
        <p className="api-type">
          <TypeName schema={schema} />
          {rules.length > 0 && (
            <>
              , <Line text={rules.join(', ')} />
            </>
          )}
        </p>
        {description !== undefined && (
          <p>
            <Line text={description} />
          </p>
        )}
        {typeof example === 'string' && example !== '' && values === undefined && (
          <p className="api-type">
            Example: <code>{example}</code>
          </p>
        )}
        <Fields schema={inner(schema)} />
      </dd>
    </div>
  );
}

/** The fields of an object; nothing for another type. */
export function Fields({ schema }: { schema: DocumentedSchema }) {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return null;
  return (
    <dl className="api-fields">
      {fields.map(([name, field]) => (
        <Field key={name} name={name} schema={field} required={schema.required?.includes(name) ?? false} />
      ))}
    </dl>
  );
}
