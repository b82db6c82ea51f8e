import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { addErrorHandlerAt, addMiddlewareAt } from '../../server/oidc/routes-table.ts';

type Layer = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;

/** The library's list of layers, without the library. */
function makeProvider() {
  const layers: Layer[] = [];
  const use = (layer: Layer): Provider => {
    layers.push(layer);
    return provider;
  };
  const provider = { use } as Partial<Provider> as Provider;
  const request = (path: string) =>
    layers.reduceRight<() => Promise<void>>(
      (next, layer) => () => layer({ path } as KoaContextWithOIDC, next),
      async () => {},
    )();
  return { provider, layers, request };
}

describe('Middleware around the routes of the library', () => {
  const seen: string[] = [];
  beforeEach(() => void seen.splice(0));
  const note = (name: string) => async (_ctx: KoaContextWithOIDC, next: () => Promise<void>) => {
    seen.push(`${name} begins`);
    await next();
    seen.push(`${name} ends`);
  };

  it('A request passes one layer, however many handlers there are', () => {
    const { provider, layers } = makeProvider();
    for (const name of ['a', 'b', 'c', 'd']) addMiddlewareAt(provider, ['/oauth2/token'], note(name));
    expect(layers).toHaveLength(1);
  });

  it('Runs those of the path alone, each around those that were added later', async () => {
    const { provider, request } = makeProvider();
    addMiddlewareAt(provider, ['/oauth2/token', '/oauth2/revoke'], note('outer'));
    addMiddlewareAt(provider, ['/oauth2/authorize'], note('other'));
    addMiddlewareAt(provider, ['/oauth2/token'], note('inner'));
    await request('/oauth2/token');
    await request('/oauth2/token');
    const once = ['outer begins', 'inner begins', 'inner ends', 'outer ends'];
    expect(seen).toEqual([...once, ...once]);
    seen.splice(0);
    await request('/oauth2/tokens');
    expect(seen).toEqual([]);
  });

  it('A path with a slash at its end stands for all below it, and not for the path without it', async () => {
    const { provider, request } = makeProvider();
    addMiddlewareAt(provider, ['/oauth2/authorize/'], note('below'));
    await request('/oauth2/authorize');
    expect(seen).toEqual([]);
    await request('/oauth2/authorize/abc');
    expect(seen).toEqual(['below begins', 'below ends']);
  });

  it.each([
    [
      'at once',
      () => {
        throw new Error('failed');
      },
    ],
    [
      'later',
      async () => {
        throw new Error('failed');
      },
    ],
  ])('An error handler gets what a later middleware throws %s', async (_when, fail) => {
    const { provider, request } = makeProvider();
    const handled: unknown[] = [];
    addErrorHandlerAt(provider, ['/oauth2/token'], (_ctx, error) => handled.push(error));
    addMiddlewareAt(provider, ['/oauth2/token'], fail);
    await request('/oauth2/token');
    expect(handled).toEqual([new Error('failed')]);
    addMiddlewareAt(provider, ['/oauth2/revoke'], fail);
    await expect(request('/oauth2/revoke')).rejects.toThrow('failed');
  });
});
