import type { Metadata } from './objects.ts';
import { invalid, unknownToStandIn } from './types.ts';

export type Params = Record<string, unknown>;

const isRecord = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** A form has '' and JSON has null for a value to remove. */
const isEmpty = (value: unknown) => value === '' || value === null;

/** Parameters of one call, read by name and type. A name that is not `known` is an error at once. */
export class Reader {
  readonly #params: Params;
  readonly #where: string;

  constructor(params: Params, known: readonly string[], where = '') {
    this.#params = params;
    this.#where = where;
    for (const name of Object.keys(params)) {
      if (params[name] !== undefined && name !== 'expand' && !known.includes(name)) {
        throw unknownToStandIn(`the parameter ${this.#name(name)}`, this.#name(name));
      }
    }
  }

  #name(name: string) {
    return this.#where ? `${this.#where}[${name}]` : name;
  }
  #invalid(name: string, kind: string) {
    return invalid(`Invalid ${kind}: ${JSON.stringify(this.#params[name])}`, {
      param: this.#name(name),
      ...(kind === 'integer' && { code: 'parameter_invalid_integer' }),
    });
  }
  has(name: string) {
    return this.#params[name] !== undefined;
  }
  isRecord(name: string) {
    return isRecord(this.#params[name]);
  }
  isCleared(name: string) {
    return this.has(name) && isEmpty(this.#params[name]);
  }
  /** A text; undefined if it is absent or removed. */
  text(name: string): string | undefined {
    const value = this.#params[name];
    if (value === undefined || isEmpty(value)) return undefined;
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    throw this.#invalid(name, 'string');
  }
  need(name: string): string {
    const value = this.text(name);
    if (value === undefined) {
      throw invalid(`Missing required param: ${this.#name(name)}.`, {
        param: this.#name(name),
        code: 'parameter_missing',
      });
    }
    return value;
  }
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!choices.includes(value as T)) {
      throw invalid(`Invalid ${this.#name(name)}: must be one of ${choices.join(', ')}`, { param: this.#name(name) });
    }
    return value as T;
  }
  int(name: string): number | undefined {
    const value = this.number(name);
    if (value !== undefined && !Number.isSafeInteger(value)) throw this.#invalid(name, 'integer');
    return value;
  }
  number(name: string): number | undefined {
    const value = this.#params[name];
    if (value === undefined || isEmpty(value)) return undefined;
    const number = typeof value === 'string' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) throw this.#invalid(name, 'integer');
    return number;
  }
  bool(name: string): boolean | undefined {
    const value = this.#params[name];
    if (value === undefined || isEmpty(value)) return undefined;
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw this.#invalid(name, 'boolean');
  }
  object(name: string, known: readonly string[]): Reader | undefined {
    const value = this.#params[name];
    if (value === undefined || isEmpty(value)) return undefined;
    if (!isRecord(value)) throw this.#invalid(name, 'object');
    return new Reader(value, known, this.#name(name));
  }
  #list(name: string): unknown[] | undefined {
    const value = this.#params[name];
    if (value === undefined) return undefined;
    if (isEmpty(value)) return [];
    if (Array.isArray(value)) return value;
    if (isRecord(value)) return Object.values(value); // items[0][…] beyond what a parser makes a list of
    throw this.#invalid(name, 'array');
  }
  objects(name: string, known: readonly string[]): Reader[] | undefined {
    return this.#list(name)?.map((each, index) => {
      if (!isRecord(each)) throw this.#invalid(name, 'array');
      return new Reader(each, known, `${this.#name(name)}[${index}]`);
    });
  }
  texts(name: string): string[] | undefined {
    return this.#list(name)?.map(String);
  }
  /** Metadata after the change: keys are merged, an empty value removes its key, '' removes all. */
  metadata(before: Metadata = {}): Metadata {
    const value = this.#params.metadata;
    if (value === undefined) return before;
    if (isEmpty(value)) return {};
    if (!isRecord(value)) throw this.#invalid('metadata', 'object');
    const merged: [string, string][] = Object.entries({ ...before, ...value }).map(([key, each]) => [
      key,
      String(each ?? ''),
    ]);
    return Object.fromEntries(merged.filter(([, each]) => each !== ''));
  }
}

/** Parameters of every list; the HTTP API makes the pages. */
export const paging = ['limit', 'starting_after', 'ending_before'] as const;

/** Newest first, as Stripe lists. */
export const list = <T>(oldestFirst: readonly T[], url: string) => ({
  object: 'list' as const,
  data: oldestFirst.toReversed(),
  has_more: false,
  url,
});
