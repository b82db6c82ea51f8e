/** A person and a key. Apart from the icons: those are loaded with the scripts of a page, and this never. */
export function PasskeyMark() {
  return (
    <svg className="icon" width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path d="M7.5 9.3a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM1.8 16.6c0-2.9 2.6-4.5 5.7-4.5 1 0 1.9.2 2.7.5M14.6 12.4a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM14.6 12.4v5.2M14.6 15.2h1.9" />
    </svg>
  );
}
