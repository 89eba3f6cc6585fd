"""The YAML study file and the study it describes: one function each way.

Importing this package loads pydantic and ruamel.yaml: import it where it is used.
"""

from __future__ import annotations

from tunebook.studyfile.editing import edit_text as edit_text
from tunebook.studyfile.parsing import parse as parse
from tunebook.studyfile.parsing import read as read
from tunebook.studyfile.shape import json_schema as json_schema
from tunebook.studyfile.templates import command_template as command_template
from tunebook.studyfile.templates import template as template
from tunebook.studyfile.writing import write as write
