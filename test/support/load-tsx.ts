import { readFileSync } from 'node:fs';
import { registerHooks, setSourceMapsSupport } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';

/**
 * Runs first in each worker. Node strips types from TypeScript itself, but does not support JSX. The positions in
 * errors are those of the source.
 */

setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.tsx')) return nextLoad(url, context);
    const path = fileURLToPath(url);
    const source = readFileSync(path, 'utf8');
    const { code, map, errors } = transformSync(path, source, { jsx: { runtime: 'automatic' }, sourcemap: true });
    const [error] = errors;
    if (error) throw error;
    const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
    const comment = `//# sourceMappingURL=data:application/json;base64,${encoded}`;
    return { format: 'module', source: `${code}\n${comment}\n`, shortCircuit: true };
  },
});
