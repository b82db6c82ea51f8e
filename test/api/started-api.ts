import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Backend } from '../support/stores.ts';
import type { OpenApi } from './answers.ts';
import { serveProbes } from './probes.ts';

/** The headers of a browser that opens a page in German. */
export const html = { accept: 'text/html', 'accept-language': 'de' };

export interface StartedApi {
  foyer: TestFoyer;
  /** The server of the probe calls. */
  probesUrl: string;
  document: OpenApi & Record<string, unknown>;
  ask(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Starts a Foyer and the probe calls beside it, and reads its OpenAPI document. */
export async function startApi(backend: Backend): Promise<StartedApi> {
  const foyer = await startFoyer(backend, { BRAND_NAME: 'Lobby' });
  const served = await serveProbes(foyer);
  const ask = (path: string, init: RequestInit = {}) => sendRequest(foyer.url + path, { redirect: 'manual', ...init });
  return {
    foyer,
    probesUrl: served.url,
    document: (await (await ask('/openapi.json')).json()) as StartedApi['document'],
    ask,
    async close() {
      served.server.close();
      await foyer.close();
    },
  };
}

export async function readProblem(answer: Response): Promise<Record<string, unknown>> {
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  return (await answer.json()) as Record<string, unknown>;
}
