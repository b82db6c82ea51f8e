<?php
// Debian's own configuration, without the secrets that only its web server may read.
$default = file_get_contents('/etc/simplesamlphp/config.php');
eval(str_replace(['<?php', "require_once('/var/lib/simplesamlphp/secrets.inc.php');"], '', $default));

$folder = __DIR__ . '/';
$config = array_merge($config, [
    'baseurlpath' => getenv('APP_URL') . '/',
    'certdir' => $folder,
    'datadir' => $folder,
    'loggingdir' => $folder,
    'tempdir' => $folder . 'tmp',
    'metadatadir' => $folder . 'metadata',
    'logging.handler' => 'errorlog',
    'secretsalt' => 'of this test',
    'auth.adminpassword' => 'of this test',
    'enable.saml20-idp' => true,
    'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true],
    // The test speaks HTTP.
    'session.cookie.secure' => false,
]);
