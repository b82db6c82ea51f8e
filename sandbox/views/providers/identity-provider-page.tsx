interface IdentityProviderPageProps {
  provider: string;
  /** Path prefix of its addresses. */
  path: string;
  sessions: readonly { index: string; name: string; email: string | undefined }[];
  /** Whether there is an app for sign-ins from here. */
  canBegin: boolean;
  /** The notice about the last action. */
  notice?: string;
}

/** The company's own start page: the signed-in people, and sign-ins that start here. */
export function IdentityProviderPage({ provider, path, sessions, canBegin, notice }: IdentityProviderPageProps) {
  return (
    <>
      <p className="provider">{provider}</p>
      <h1>{notice ?? 'Start page'}</h1>
      {notice !== undefined && (
        <p>
          <a href={path}>To the start page</a>
        </p>
      )}
      {canBegin && (
        <>
          <h2>Apps</h2>
          <p className="soft">Signs you in to the app without its having asked (IdP-initiated).</p>
          <form method="post" action={`${path}/begin`}>
            <button type="submit" className="main">
              Open the app
            </button>
          </form>
        </>
      )}
      {notice === undefined && <h2>Signed in</h2>}
      {notice === undefined && sessions.length === 0 && <p className="soft">No one.</p>}
      {sessions.length > 0 && (
        <ul>
          {sessions.map(({ index, name, email }) => (
            <li key={index}>
              <form method="post" action={`${path}/sign-out/${index}`}>
                <p>
                  {name}
                  {email !== undefined && <span className="soft"> {email}</span>}
                </p>
                <button type="submit">Sign out here and at the app</button>
              </form>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
