import type { Request } from 'express';
import type { z } from 'zod';
import type { ApiAccess } from './access.ts';

/** `req` is for `requirePrincipal`. */
export type GraphqlContext = { req: Request };

/** An error of the call, in words for its caller. */
export class GraphqlError extends Error {
  override name = 'GraphqlFault';
}

/**
 * Answers a field of the schema's `Query` or `Mutation`. @throws {GraphqlError} its message is sent to the caller; other errors are
 * internal
 */
type Resolver = (args: never, context: GraphqlContext) => Promise<unknown>;

/** The fields of one module in the schema that all modules share. */
export interface GraphqlPart {
  /** The schema definition language of GraphQL: types, and extensions of `Query` and `Mutation`. */
  schema: string;
  resolvers: Record<string, Resolver>;
  /** The schemas of its fields in `data`. */
  data: z.ZodRawShape;
}

export interface GraphqlSettings {
  /** The schema definition language of GraphQL. */
  schema: string;
  resolvers: Record<string, Resolver>;
  /** The access rule of each field, as `Type.field`; every field of the schema needs one. */
  fields: Readonly<Record<string, ApiAccess>>;
  /** Whether callers can query the schema. */
  introspection: boolean;
}
