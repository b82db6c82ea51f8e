/** The addresses of what Vite has built from `client/`, read from its manifest once at start. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Under this path the server offers the folder that `loadAssets` was given. */
const BASE = '/assets/';

export interface Assets {
  /** Address of the stylesheet. */
  css: string;
  /** Address of what the sandbox adds to it. */
  sandboxCss: string | undefined;
  /** Addresses of the fonts worth preloading: the one that every page needs. */
  fonts: string[];
  /** Address of the icon in the browser's tab. */
  icon: string | undefined;
  /** Address of `client/entries/<entry>.ts`, or of the loader of islands, `hydrate`. Throws when there is no such entry. */
  script(entry: string): string;
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
    return manifestSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is not a Vite manifest. Run "npm run build" again.`, { cause });
  }
}

/**
 * @param clientDir the folder that Vite has filled (`dist/client`)
 * @throws Error that says what to do when the manifest is missing, is none, or lacks the stylesheet
 */
export function loadAssets(clientDir: string): Assets {
  const manifest = readManifest(join(clientDir, 'manifest.json'));
  const style = manifest['client/foyer.css'];
  if (style === undefined) throw new Error('The client build lacks client/foyer.css. Run "npm run build" again.');
  const sandboxStyle = manifest['client/sandbox.css'];
  const belonging = [...(style.assets ?? []), ...Object.values(manifest).map((chunk) => chunk.file)];
  const find = (pattern: RegExp) =>
    belonging.filter((file, at) => pattern.test(file) && belonging.indexOf(file) === at);
  const icon = find(/(^|\/)icon-[^/]*\.svg$/)[0];
  return {
    css: BASE + style.file,
    sandboxCss: sandboxStyle === undefined ? undefined : BASE + sandboxStyle.file,
    fonts: find(/figtree-latin-wght-normal[^/]*\.woff2$/).map((file) => BASE + file),
    icon: icon === undefined ? undefined : BASE + icon,
    script(entry) {
      const chunk = manifest[entry === 'hydrate' ? 'client/hydrate.ts' : `client/entries/${entry}.ts`];
      if (chunk === undefined) throw new Error(`There is no client/entries/${entry}.ts in the client build.`);
      return BASE + chunk.file;
    },
  };
}
