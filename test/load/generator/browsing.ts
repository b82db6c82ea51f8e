import { publicUrl } from '../setting.ts';
import { type Answer, type Connections, cookiesOf } from './connections.ts';

/** The headers of a form of Foyer's own page. */
export const ownForm = {
  origin: publicUrl,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'content-type': 'application/x-www-form-urlencoded',
};
const navigation = { accept: 'text/html', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
const ownScript = {
  origin: publicUrl,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'content-type': 'application/json',
};

/** A browser behind the proxy: it keeps its cookies, and follows no redirect. */
export interface VisitorsBrowser {
  get(path: string): Promise<Answer>;
  post(path: string, fields: Record<string, string>): Promise<Answer>;
  postJson(path: string, body: object): Promise<Answer>;
  isSignedIn(): boolean;
  /** The session ends; the mark of the known device stays. */
  forgetSession(): void;
}

export function openBrowser(connections: Connections): VisitorsBrowser {
  const jar = new Map<string, string>();
  async function send(method: 'GET' | 'POST', path: string, how: { headers: Record<string, string>; body?: string }) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = cookie === '' ? how.headers : { ...how.headers, cookie };
    const answer = await connections.send(method, path, headers, how.body);
    for (const pair of cookiesOf(answer)) {
      const at = pair.indexOf('=');
      if (at === pair.length - 1) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  }
  return {
    get: (path) => send('GET', path, { headers: navigation }),
    post: (path, fields) => send('POST', path, { headers: ownForm, body: new URLSearchParams(fields).toString() }),
    postJson: (path, body) => send('POST', path, { headers: ownScript, body: JSON.stringify(body) }),
    isSignedIn: () => [...jar.keys()].some((name) => name.endsWith('foyer_session')),
    forgetSession() {
      for (const name of jar.keys()) if (!name.endsWith('foyer_device')) jar.delete(name);
    },
  };
}
