import type { Request } from 'express';
import {
  buildSchema,
  defaultFieldResolver,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  isObjectType,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { createHandler, type Request as GraphqlRequest, type RequestParams } from 'graphql-http';
import { permits, requirePrincipal } from './access.ts';
import { HttpError } from './errors.ts';
import { type GraphqlContext, GraphqlError, type GraphqlSettings } from './graphql.ts';
import { graphqlValidationRules } from './graphql-rules.ts';

/** Every field of every type is some sixty of them. */
const maxTokens = 500;
const maxErrors = 5;

export interface GraphqlResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Runs one call; what went wrong inside is thrown, what is wrong with the call is in the answer. */
export type Engine = (req: Request, params: RequestParams, accept: string) => Promise<GraphqlResponse>;

/** An error of ours, at a field: the answer would hold its message. What is wrong with the call has no path, or is said so. */
function failureIn(errors: readonly GraphQLError[] | undefined): unknown {
  const ours = errors?.find(({ path, originalError }) => path && !(originalError instanceof GraphqlError));
  return ours?.originalError ?? ours;
}

/** The schema, with the rule of each field before its resolver. @throws when a field has no rule */
function guardedSchema(sdl: string, rules: GraphqlSettings['fields']): GraphQLSchema {
  const schema = buildSchema(sdl);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      const rule = rules[name];
      if (rule === undefined) throw new Error(`the GraphQL field ${name} has no access rule`);
      field.resolve = (source, args, context: GraphqlContext, info) => {
        if (permits(rule, requirePrincipal(context.req))) return defaultFieldResolver(source, args, context, info);
        throw new HttpError('forbidden', { detail: `the field ${name} is not open to this caller` });
      };
    }
  }
  return schema;
}

/**
 * `graphql` behind `graphql-http`, which knows what to answer in which type and status (GraphQL over HTTP). A file of its own:
 * both are loaded with the first call (80 ms and 20 MB that most processes never need).
 */
export function createEngine({ schema: sdl, resolvers, introspection, fields }: GraphqlSettings): Engine {
  const rules = [...graphqlValidationRules({ introspection }), ...specifiedRules];
  const handle = createHandler<Request, { params: RequestParams }, GraphqlContext>({
    schema: guardedSchema(sdl, fields),
    rootValue: resolvers,
    context: ({ raw }) => ({ req: raw }),
    // Read already, and by our own rules.
    parseRequestParams: ({ context }) => context.params,
    parse: (source) => parse(source, { maxTokens: maxTokens }),
    validate: (schema, document) => validate(schema, document, rules, { maxErrors: maxErrors, hideSuggestions: true }),
    execute: (args) => execute({ ...args, hideSuggestions: true }),
    onOperation(_req, _args, result) {
      const failure = 'errors' in result ? failureIn(result.errors) : undefined;
      if (failure !== undefined) throw failure;
    },
  });
  return async (req, params, accept) => {
    const requested: GraphqlRequest<Request, { params: RequestParams }> = {
      ...{ method: 'POST', url: req.url, headers: { accept }, body: null },
      ...{ raw: req, context: { params } },
    };
    const [body, { status, headers = {} }] = await handle(requested);
    return { status, headers, body: body ?? '' };
  };
}
