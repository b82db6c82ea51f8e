import type { z } from 'zod';
import type { DocumentedCall } from '../../views/api-reference/document.ts';
import type { ApiTag } from './api-names.ts';
import type { SchemaRegistry } from './openapi-schemas.ts';

/** A call that is no operation of the JSON API and belongs into its document all the same. */
export interface ProtocolCall {
  path: string;
  method: 'get' | 'post';
  operationId: string;
  tag: ApiTag;
  summary: string;
  description: string;
  /** Names of security schemes; one is enough. `public`: open without. */
  security: readonly string[];
  body: { type: string; schema: z.ZodType };
  answer: z.ZodType;
  /** The other answers, by status or `default`. */
  refusals: Readonly<Record<string, { description: string; type: string; schema: z.ZodType }>>;
}

function toBody(schemas: SchemaRegistry, { type, schema }: ProtocolCall['body'], io: 'input' | 'output') {
  const converted = schemas.convert(schema, io);
  return { content: { [type]: { schema: converted, example: schemas.example(converted) } } };
}

/** The entry of such a call in the document. */
export function describeProtocolCall(schemas: SchemaRegistry, call: ProtocolCall): DocumentedCall {
  const { operationId, tag, summary, description, security, body, answer, refusals } = call;
  const refused = Object.entries(refusals).map(([status, { description: text, ...refusal }]) => [
    status,
    { description: text, ...toBody(schemas, refusal, 'output') },
  ]);
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: security.map((name) => (name === 'public' ? {} : { [name]: [] })),
    requestBody: { required: true, ...toBody(schemas, body, 'input') },
    responses: {
      200: { description: 'Done', ...toBody(schemas, { type: 'application/json', schema: answer }, 'output') },
      ...Object.fromEntries(refused),
    },
  };
}
