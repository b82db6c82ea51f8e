/** The pages of the Express example: plain HTML, every value escaped. */

const entities = /** @type {const} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' });
/** @param {unknown} value */
const escaped = (value) =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(
    /[&<>"']/g,
    (sign) => entities[/** @type {keyof typeof entities} */ (sign)],
  );

/** @param {string} title @param {string} body */
const page = (title, body) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>
body { font: 1rem/1.5 system-ui; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
th { text-align: left; padding-right: 1rem; vertical-align: top }
td { overflow-wrap: anywhere }
form { display: inline }
</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`;

/** @param {string} id @param {string} title @param {object} claims */
const table = (id, title, claims) => `<h2 id="${id}">${title}</h2>
<table aria-labelledby="${id}">
${Object.entries(claims)
  .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
  .join('\n')}
</table>`;

const signIn = '<p><a href="/sign-in">Sign in</a></p>';

export const welcomePage = () => page('Express example', `<p>No one is signed in.</p>\n${signIn}`);

/** @param {string} message */
export const errorPage = (message) => page('That did not work', `<p role="alert">${escaped(message)}</p>\n${signIn}`);

/**
 * @param {{ claims: import('openid-client').IDToken, userInfo?: import('openid-client').UserInfoResponse,
 *   problem?: string, refreshToken?: string, expiresAtMs: number }} member
 */
export const memberPage = ({ claims, userInfo, problem, refreshToken, expiresAtMs }) =>
  page(
    `Hello, ${userInfo?.name ?? claims.name ?? claims.sub}`,
    [
      problem ? `<p role="alert">userInfo says: ${escaped(problem)}</p>` : '',
      userInfo ? table('user-info', 'What userInfo says now', userInfo) : '',
      table('claims', 'Claims of the id token', claims),
      `<p>The access token is good until ${new Date(expiresAtMs).toISOString()}.</p>`,
      refreshToken ? '<form method="post" action="/refresh"><button>Refresh tokens</button></form>' : '',
      '<form method="post" action="/sign-out"><button>Sign out</button></form>',
    ].join('\n'),
  );
