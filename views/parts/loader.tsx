/** Arches that light up one after the other. The text beside it names the pending work. */
export function Loader() {
  return (
    <svg className="loader" width="64" height="64" viewBox="0 0 28 28" fill="none" aria-hidden="true">
      <path className="loader-3" d="M3 25V14a11 11 0 0 1 22 0v11" />
      <path className="loader-2" d="M8.5 25V14.5a5.5 5.5 0 0 1 11 0V25" />
      <path d="M14 25v-9" />
    </svg>
  );
}
