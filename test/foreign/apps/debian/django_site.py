"""One site of Django in one file: `serve(urls, settings)`."""
import os
import tempfile
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]


class ThreadedServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def configure(apps=(), **more):
    """Before the modules of the site's apps are imported."""
    settings.configure(
        ROOT_URLCONF="__main__",
        SECRET_KEY="of this test",
        ALLOWED_HOSTS=["*"],
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", *apps],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(tempfile.mkdtemp(), "site.db")}
        },
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
        **more,
    )
    django.setup()
    call_command("migrate", verbosity=0)


def serve():
    make_server("127.0.0.1", int(os.environ["PORT"]), get_wsgi_application(), server_class=ThreadedServer).serve_forever()
