import { encodeFields, type Field, mutateFields } from './mutate.ts';
import type { Random } from './random.ts';
import type { FuzzScene } from './scene.ts';

/** A request as it goes over the wire. */
export interface FuzzRequest {
  method: string;
  /** Path and query: ASCII without spaces and controls. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

export type Generate = (random: Random, scene: FuzzScene) => FuzzRequest;

export const form = 'application/x-www-form-urlencoded';
export const json = 'application/json';

/** The headers of a form of Foyer's own page. */
export const ownPage = (scene: FuzzScene): Record<string, string> => ({
  host: scene.host,
  origin: scene.url,
  'sec-fetch-site': 'same-origin',
  accept: 'text/html',
});

export const addressText = (text: string) =>
  encodeURI(text.toWellFormed())
    .replaceAll(/[^\u0021-\u007e]/g, '')
    .slice(0, 9_000);

export const query = (random: Random, fields: readonly Field[]) => {
  const text = encodeFields(random, mutateFields(random, fields));
  return text === '' ? '' : addressText(`?${text}`).replaceAll('%25', '%');
};
