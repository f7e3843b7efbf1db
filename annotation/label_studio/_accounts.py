"""Make the database and its accounts; runs under Label Studio's own interpreter, never imported by ours.

Reads ``[{"email", "password", "token", "admin"}]`` as JSON from standard input, so that no secret stands in a
process list. An account that exists gets what is given. People made through the REST API cannot log in (no password
can be set there), which is why this goes through Django.
"""

import importlib
import json
import sys


def main() -> None:
    """Migrate the database, then create the accounts that are missing."""
    accounts = json.load(sys.stdin)
    label_studio = importlib.import_module("label_studio.server")
    label_studio._setup_env()
    label_studio._apply_database_migrations()
    for account in accounts:
        users = importlib.import_module("users.models").User.objects
        organizations = importlib.import_module("organizations.models").Organization
        tokens = importlib.import_module("rest_framework.authtoken.models").Token.objects
        user = users.filter(email=account["email"]).first() or users.create_user(email=account["email"])
        user.set_password(account["password"])
        user.is_staff = user.is_superuser = account["admin"]
        user.save()
        tokens.filter(user=user).delete()
        tokens.create(user=user, key=account["token"])
        organization = organizations.objects.first()
        if organization is None:
            organization = organizations.create_organization(
                created_by=user, title="Label Studio", legacy_api_tokens_enabled=True
            )
        else:
            organization.add_user(user)
        user.active_organization = organization
        user.save(update_fields=["active_organization"])


if __name__ == "__main__":
    main()
