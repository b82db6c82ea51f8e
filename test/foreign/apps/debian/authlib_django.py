"""Authlib with Django, by its documentation: discovery, id, secret, scopes and the line for PKCE."""
import os

from django_site import APP_URL, ISSUER, configure, serve

configure(
    AUTHLIB_OAUTH_CLIENTS={
        "foyer": {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
    }
)

from authlib.integrations.django_client import OAuth  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.shortcuts import redirect  # noqa: E402
from django.urls import path  # noqa: E402

oauth = OAuth()
oauth.register(
    "foyer",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


def sign_in(request):
    return oauth.foyer.authorize_redirect(request, f"{APP_URL}/callback")


def callback(request):
    token = oauth.foyer.authorize_access_token(request)
    userinfo = oauth.foyer.userinfo(token=token)
    request.session["member"] = {"claims": {"sub": token["userinfo"]["sub"]}, "userinfo": dict(userinfo)}
    request.session["token"] = dict(token)
    return redirect("/me")


def me(request):
    member = request.session.get("member")
    return JsonResponse(member or {}, status=200 if member else 401)


def sign_out(request):
    endpoint = oauth.foyer.load_server_metadata()["end_session_endpoint"]
    hint = request.session["token"]["id_token"]
    request.session.flush()
    return redirect(f"{endpoint}?id_token_hint={hint}&post_logout_redirect_uri={APP_URL}/")


urlpatterns = [
    path("", lambda _request: HttpResponse("home")),
    path("sign-in", sign_in),
    path("callback", callback),
    path("me", me),
    path("sign-out", sign_out),
]
serve()
