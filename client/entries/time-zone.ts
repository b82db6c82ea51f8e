/** Fills the hidden field of a form with the time zone of this browser. */
const zone = document.querySelector<HTMLInputElement>('[type=hidden][name=zoneinfo]');
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
