/** The addresses of the files that Vite has built from `client/`, read once from its manifest at the start. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseUnknownJson } from '../shared/index.ts';

/** The server serves the folder of `loadAssets` under this path. */
const BASE = '/assets/';

export interface Assets {
  /** Address of the stylesheet. */
  css: string;
  /** Addresses of the fonts to preload: only the one that every page needs. */
  fonts: string[];
  /** Address of the icon in the browser's tab. */
  icon: string | undefined;
  /** Addresses of the web manifest, and of the icon of home screens. */
  homeScreen?: { manifest: string; touchIcon: string };
  /**
   * Address of `client/entries/<entry>.ts`, or of the loader of islands, `hydrate`. @throws if the entry does not exist
   */
  script(entry: string): string;
  /** Address of another stylesheet, by its source. Throws if there is no such stylesheet. */
  style(source: string): string;
}

const manifestSchema = z.record(z.string(), z.object({ file: z.string(), assets: z.array(z.string()).optional() }));

function readManifest(path: string): z.infer<typeof manifestSchema> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`The client is not built: cannot read ${path}. Run "npm run build" first.`, { cause });
  }
  try {
    return manifestSchema.parse(parseUnknownJson(text));
  } catch (cause) {
    throw new Error(`${path} is not a Vite manifest. Run "npm run build" again.`, { cause });
  }
}

/**
 * @param clientDir the folder of Vite's output (`dist/client`)
 * @throws Error with instructions if the manifest is missing or invalid, or lacks the stylesheet
 */
export function loadAssets(clientDir: string): Assets {
  const manifest = readManifest(join(clientDir, 'manifest.json'));
  const style = manifest['client/foyer.css'];
  if (style === undefined) throw new Error('The client build lacks client/foyer.css. Run "npm run build" again.');
  const belonging = [...(style.assets ?? []), ...Object.values(manifest).map((chunk) => chunk.file)];
  const find = (pattern: RegExp) =>
    belonging.filter((file, at) => pattern.test(file) && belonging.indexOf(file) === at);
  const icon = find(/(^|\/)icon-[^/]*\.svg$/)[0];
  return {
    css: BASE + style.file,
    fonts: find(/figtree-latin-wght-normal[^/]*\.woff2$/).map((file) => BASE + file),
    icon: icon === undefined ? undefined : BASE + icon,
    script(entry) {
      const chunk = manifest[entry === 'hydrate' ? 'client/hydrate.ts' : `client/entries/${entry}.ts`];
      if (chunk === undefined) throw new Error(`There is no client/entries/${entry}.ts in the client build.`);
      return BASE + chunk.file;
    },
    style(source) {
      const chunk = manifest[source];
      if (chunk === undefined) throw new Error(`There is no ${source} in the client build.`);
      return BASE + chunk.file;
    },
  };
}
