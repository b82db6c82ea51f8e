import type { Request } from 'express';
import {
  buildSchema,
  defaultFieldResolver,
  execute,
  GraphQLError,
  type GraphQLSchema,
  isObjectType,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { createHandler, type Request as GraphqlRequest, type RequestParams } from 'graphql-http';
import { type ApiAccess, type ApiPrincipal, permits, requirePrincipal } from './access.ts';
import { HttpError } from './errors.ts';
import { graphqlValidationRules } from './graphql-rules.ts';
import { type GraphqlContext, GraphqlError, type GraphqlSettings } from './graphql-settings.ts';

/** A query for every field of every type has about sixty tokens. */
const maxTokens = 500;
const maxErrors = 5;

export interface GraphqlResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Runs one call. Internal errors are thrown; errors of the call itself are in the answer. */
export type Engine = (req: Request, params: RequestParams, accept: string) => Promise<GraphqlResponse>;

/**
 * Finds an internal error, whose message the answer would contain. Errors of the call itself have no path, or are
 * GraphqlErrors.
 */
function failureIn(errors: readonly GraphQLError[] | undefined): unknown {
  const ours = errors?.find(({ path, originalError }) => path && !(originalError instanceof GraphqlError));
  return ours?.originalError ?? ours;
}

/** Messages of the library repeat values of the caller, which may have 15 KiB. */
const maxMessage = 200;
function withShortMessage(error: Readonly<GraphQLError | Error>): Error {
  const { message } = error;
  if (message.length <= maxMessage) return error as Error;
  const short = `${message.slice(0, maxMessage - 1)}…`;
  return new GraphQLError(short, error instanceof GraphQLError ? { nodes: error.nodes, source: error.source } : {});
}

/** @throws {HttpError} if the rule of a field does not open it to this caller */
function requireField(name: string, rule: ApiAccess, principal: ApiPrincipal): void {
  if (permits(rule, principal)) {
    // The guard of the call has admitted users who may only read.
    if (!rule.reads && principal.kind === 'member' && principal.changesRefused) throw principal.changesRefused;
    return;
  }
  const scope = principal.kind === 'client' ? rule.client : rule.member;
  const detail = `field ${name} is not available to this caller`;
  if (scope === undefined) throw new HttpError('wrongCaller', { detail });
  throw new HttpError('insufficientScope', {
    detail,
    extra: { scope },
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${scope}"` },
  });
}

/** The schema with the access rule of each field before its resolver. @throws if a field has no rule */
function guardedSchema(sdl: string, rules: GraphqlSettings['fields']): GraphQLSchema {
  const schema = buildSchema(sdl);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      const rule = rules[name];
      if (rule === undefined) throw new Error(`the GraphQL field ${name} has no access rule`);
      field.resolve = (source, args, context: GraphqlContext, info) => {
        requireField(name, rule, requirePrincipal(context.req));
        return defaultFieldResolver(source, args, context, info);
      };
    }
  }
  return schema;
}

/**
 * `graphql` behind `graphql-http`, which selects media type and status (GraphQL over HTTP). It is a separate file that
 * is loaded with the first call: both libraries cost 80 ms and 20 MB, and most processes never need them.
 */
export function createEngine({ schema: sdl, resolvers, introspection, fields }: GraphqlSettings): Engine {
  const rules = [...graphqlValidationRules({ introspection }), ...specifiedRules];
  const handle = createHandler<Request, { params: RequestParams }, GraphqlContext>({
    schema: guardedSchema(sdl, fields),
    rootValue: resolvers,
    context: ({ raw }) => ({ req: raw }),
    // The body is already parsed, by Foyer's own rules.
    parseRequestParams: ({ context }) => context.params,
    parse: (source) => parse(source, { maxTokens: maxTokens }),
    formatError: (error) => withShortMessage(error),
    validate: (schema, document) => validate(schema, document, rules, { maxErrors: maxErrors, hideSuggestions: true }),
    execute: (args) => execute({ ...args, hideSuggestions: true }),
    onOperation(_req, _args, result) {
      const failure = 'errors' in result ? failureIn(result.errors) : undefined;
      if (failure !== undefined) throw failure;
    },
  });
  return async (req, params, accept) => {
    const requested: GraphqlRequest<Request, { params: RequestParams }> = {
      method: 'POST',
      url: req.url,
      headers: { accept },
      body: null,
      raw: req,
      context: { params },
    };
    const [body, { status, headers = {} }] = await handle(requested);
    return { status, headers, body: body ?? '' };
  };
}
