<?php
// Foyer's metadata as the converter of the administration page turns them into settings.
$file = dirname(__DIR__) . '/service-provider.xml';
if (file_exists($file)) {
    foreach (\SimpleSAML\Metadata\SAMLParser::parseDescriptorsFile($file) as $id => $entity) {
        $metadata[$id] = $entity->getMetadata20SP();
    }
}
