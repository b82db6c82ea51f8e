/** The path to this page, with the page itself last. */
export function Breadcrumb({ label, path }: { label: string; path: readonly { href?: string; label: string }[] }) {
  return (
    <nav className="breadcrumb" aria-label={label}>
      <ol>
        {path.map((place, index) => (
          <li key={place.label}>
            {place.href === undefined || index === path.length - 1 ? (
              <span aria-current={index === path.length - 1 ? 'page' : undefined}>{place.label}</span>
            ) : (
              <a href={place.href}>{place.label}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
