/** A tick in a circle that is drawn once. The text beside it says what has succeeded. */
export function SuccessTick() {
  return (
    <svg className="success-tick" width="64" height="64" viewBox="0 0 64 64" fill="none" aria-hidden="true">
      <circle cx="32" cy="32" r="29" pathLength="1" />
      <path d="M20 33.5l8.4 8.4L44.5 24" pathLength="1" />
    </svg>
  );
}
