import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** The database, or a transaction in it: a query that takes this type runs in both. */
export type Db = Kysely<Schema> | Transaction<Schema>;
