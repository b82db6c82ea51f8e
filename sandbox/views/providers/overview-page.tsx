interface OverviewPageProps {
  providers: readonly { name: string; note: string; domain?: string; href?: string }[];
  /** The sign-in page of users; undefined: unknown. */
  appUrl: string | undefined;
}

/** The providers of the sandbox, and their features. */
export function OverviewPage({ providers, appUrl }: OverviewPageProps) {
  return (
    <>
      <h1>Providers</h1>
      <p className="soft">
        Stand-ins for those by which members sign in. A visitor from the app chooses an account here, refuses, or has
        the provider answer wrongly.
      </p>
      {appUrl !== undefined && (
        <p>
          <a href={appUrl}>To the app’s sign-in page</a>
        </p>
      )}
      <ul>
        {providers.map(({ name, note, domain, href }) => (
          <li key={name} className="told">
            <h2>{href === undefined ? name : <a href={href}>{name}</a>}</h2>
            <p className="soft">
              {note}
              {domain !== undefined && (
                <>
                  {' '}
                  Typing an address of <code>{domain}</code> at the app leads here.
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
