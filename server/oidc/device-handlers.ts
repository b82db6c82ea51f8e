import { DeviceEndPage } from '../../views/oidc/device-end-page.tsx';
import type { RequestContext } from '../http/index.ts';
import type { OidcDeps } from './deps.ts';
import { deviceUrl, readUserCode, staleParameter } from './device-addresses.ts';
import { routes } from './routes-table.ts';

/** GET /device: the short address of the page for codes. */
export function redirectToDevicePage(r: RequestContext): void {
  const userCode = readUserCode(r.query('user_code'));
  const isStale = r.query(staleParameter) !== undefined;
  r.redirect(deviceUrl(routes.code_verification, { userCode, isStale }));
}

/** GET /device/done and /device/refused: the result, at an address that can be reloaded. */
export const showDeviceEnd =
  (end: 'done' | 'refused') =>
  async (r: RequestContext, deps: OidcDeps): Promise<void> => {
    await deps.sessions.getCurrentUser(r.req);
    const id = end === 'done' ? r.query('client_id') : undefined;
    const client = id === undefined ? undefined : await deps.provider().Client.find(id);
    r.render(
      DeviceEndPage,
      { end, clientName: client?.clientName ?? client?.clientId },
      { title: `oauth.device.${end}.title` },
    );
  };
