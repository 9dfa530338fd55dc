"""Embedding models from a local folder: what its files say is done, and what is wrong with it is said."""

from __future__ import annotations

import builtins
import sqlite3
import sys

import numpy as np
import pytest
from clirun import memidx as run
from tinymodel import MISSING, SPECIAL, WORDS, static, table, transformer, write_json

import memidx
from memidx.ground.errors import ModelError
from memidx.ground.freshness import Work, expected_seconds, refresh_or_not
from memidx.ground.model import Slow
from memidx.ground.settings import VectorSettings
from memidx.stores.embedding import open_embedder
from memidx.stores.embedding.local import BLOCK, WHOLE, revision
from memidx.stores.embedding.unit import to_unit


def opened(kind, folder, **settings):
    return open_embedder(VectorSettings(model=f"{kind}:{folder}", **settings))


def rows_of(*tokens):
    names = (*SPECIAL, *WORDS)
    return table()[[names.index(token) for token in tokens]]


def unit(vector):
    return to_unit(vector[None, :])[0]


# -- a transformer's folder -------------------------------------------------------------------------------------------


def test_the_mean_of_the_tokens_is_the_vector_and_padding_has_no_part_in_it(tmp_path):
    model = opened("fastembed", transformer(tmp_path / "m"))
    made = model.embed_documents(["fog horn", "The  LIGHTHOUSE"])  # `horn` is unknown; the folder says to lower
    assert made.dtype == np.float32
    assert np.allclose(made[0], unit(rows_of("[CLS]", "fog", "[UNK]", "[SEP]").mean(axis=0)), atol=1e-6)
    assert np.allclose(made[1], unit(rows_of("[CLS]", "the", "lighthouse", "[SEP]").mean(axis=0)), atol=1e-6)
    assert np.allclose(np.linalg.norm(made, axis=1), 1)
    assert model.embed_documents([]).shape == (0, 8)


def test_pooling_comes_from_the_folder(tmp_path):
    model = opened("fastembed", transformer(tmp_path / "m", pooling="cls"))
    assert np.allclose(model.embed_query("tide"), unit(rows_of("[CLS]")[0]), atol=1e-6)
    assert model.identity.pooling == "cls"
    write_json(tmp_path / "m" / "1_Pooling" / "config.json", {"embedding_dimension": 8, "pooling_mode": "mean"})
    assert opened("fastembed", tmp_path / "m").identity.pooling == "mean"


def test_a_text_has_one_vector_whatever_stands_beside_it(tmp_path):
    model = opened("fastembed", transformer(tmp_path / "m"))
    texts = ["fog", "the keeper and the harbour and the tide", "apple"]
    together = model.embed_documents(texts)
    assert np.array_equal(together, np.stack([model.embed_query(text) for text in texts]))


def test_a_long_text_is_cut_where_the_folder_says(tmp_path):
    model = opened("fastembed", transformer(tmp_path / "m"))
    assert np.array_equal(model.embed_query("fog " * 14 + "apple"), model.embed_query("fog " * 14))
    assert not np.array_equal(model.embed_query("fog " * 13 + "apple"), model.embed_query("fog " * 14))


def test_prompts_stand_before_questions_and_documents(tmp_path):
    folder = transformer(tmp_path / "m", prompts={"query": "query: ", "passage": "passage: "})
    model, plain = opened("fastembed", folder), opened("fastembed", folder, query_prefix="", document_prefix="")
    assert model.identity[4:] == ("query: ", "passage: ")
    assert plain.identity[4:] == ("", "")
    assert np.array_equal(model.embed_query("fog"), plain.embed_query("query: fog"))
    assert np.array_equal(model.embed_documents(["fog"])[0], plain.embed_query("passage: fog"))
    other = opened("fastembed", folder, query_prefix="the ")
    assert np.array_equal(other.embed_query("fog"), plain.embed_query("the fog"))


def test_what_decides_a_vector_is_in_the_key(tmp_path):
    folder = transformer(tmp_path / "m")
    key = opened("fastembed", folder).identity.key()
    assert opened("fastembed", folder).identity.key() == key
    assert opened("fastembed", folder, document_prefix="the ").identity.key() != key
    assert opened("fastembed", transformer(tmp_path / "m", seed=2)).identity.key() != key
    assert opened("fastembed", transformer(tmp_path / "m")).identity.key() == key
    assert opened("fastembed", transformer(tmp_path / "m", pooling="cls")).identity.key() != key
    asked = opened("fastembed", transformer(tmp_path / "m"), query_prefix="the ").identity
    assert asked.key() != key
    assert asked.document_key() == key  # what stands before a question makes no document anew


def test_a_large_file_is_digested_in_blocks(tmp_path):
    path = tmp_path / "w"
    data = np.random.default_rng(3).bytes(2 * WHOLE)
    path.write_bytes(data)
    before = revision([("w", path)])
    assert revision([("v", path)]) != before
    path.write_bytes(bytes(len(data) // 100) + data[len(data) // 100 :])  # a hundredth of it is of another model
    assert revision([("w", path)]) != before
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert revision([("w", path)]) != before  # the last block is always among them
    assert BLOCK * 1024 == WHOLE


def test_the_usual_model_file_is_taken_and_of_several_others_one_must_be_named(tmp_path):
    folder = transformer(tmp_path / "m")
    vector = opened("fastembed", folder).embed_query("fog")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    assert np.array_equal(opened("fastembed", folder).embed_query("fog"), vector)
    (folder / "onnx" / "model_int8.onnx").write_bytes((folder / "onnx" / "model_quantized.onnx").read_bytes())
    with pytest.raises(ModelError, match=r"model_int8.onnx, model_quantized.onnx") as caught:
        opened("fastembed", folder)
    assert "one of these files" in caught.value.hint
    named = opened("fastembed", folder / "onnx" / "model_int8.onnx")
    assert np.array_equal(named.embed_query("fog"), vector)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json", "1_Pooling/config.json"])
def test_a_file_that_is_missing_is_named_with_its_remedy(tmp_path, name):
    folder = transformer(tmp_path / "m")
    (folder / name).unlink()
    with pytest.raises(ModelError) as caught:
        opened("fastembed", folder)
    assert name.replace("/", "") in caught.value.message.replace("/", "").replace("\\", "")
    assert str(folder) in caught.value.message
    assert "optimum-cli export onnx" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "plain", "words"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling by pooling_mode_max_tokens"),
        ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "pooling by cls and mean"),
        ("1_Pooling/config.json", {}, "pooling by nothing"),
        ("1_Pooling/config.json", {"word_embedding_dimension": 9, "pooling_mode": "mean"}, "is 8 and 9"),
        ("config.json", [1], "is not a JSON object"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "the layer Dense"),
        ("modules.json", {"type": "x"}, "cannot be read"),
    ],
)
def test_what_is_not_done_here_is_refused_instead_of_left_out(tmp_path, name, plain, words):
    folder = transformer(tmp_path / "m")
    write_json(folder / name, plain)
    with pytest.raises(ModelError, match=words) as caught:
        opened("fastembed", folder)
    assert caught.value.hint


def test_a_prompt_that_is_left_out_of_the_pooling_is_refused(tmp_path):
    folder = transformer(tmp_path / "m", prompts={"query": "query: "})
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode": "mean", "include_prompt": False})
    with pytest.raises(ModelError, match="include_prompt"):
        opened("fastembed", folder)


def test_a_damaged_model_is_an_error_of_one_line_and_not_a_crash(tmp_path):
    folder = transformer(tmp_path / "m")
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelError, match=r"model.onnx") as caught:
        opened("fastembed", folder).embed_query("fog")
    assert caught.value.hint
    folder = transformer(tmp_path / "k")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer.json"):
        opened("fastembed", folder).embed_query("fog")
    folder = transformer(tmp_path / "n")
    write_json(folder / "config.json", {"hidden_size": 4})
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode": "mean"})
    with pytest.raises(ModelError, match="8 dimensions instead of 4"):
        opened("fastembed", folder).embed_query("fog")


# -- names and packages -----------------------------------------------------------------------------------------------


def without(monkeypatch, package):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named '{package}'", name=package)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)


def test_a_package_that_is_missing_is_named_with_the_extra_that_brings_it(tmp_path, monkeypatch):
    without(monkeypatch, "fastembed")
    with pytest.raises(ModelError, match="fastembed is not installed") as caught:
        _ = opened("fastembed", "BAAI/bge-small-en-v1.5").identity
    assert caught.value.hint == "pip install 'memidx[fastembed]'"
    folder = transformer(tmp_path / "m")
    without(monkeypatch, "onnxruntime")
    with pytest.raises(ModelError, match="onnxruntime is not installed") as caught:
        opened("fastembed", folder).embed_query("fog")
    assert caught.value.hint == "pip install 'memidx[fastembed]'"


def test_model2vec_that_is_missing_is_said_before_anything_is_built(tmp_path, monkeypatch):
    folder = static(tmp_path / "m")
    without(monkeypatch, "model2vec")
    with pytest.raises(ModelError, match="model2vec is not installed") as caught:
        _ = opened("model2vec", folder).identity
    assert caught.value.hint == "pip install 'memidx[model2vec]'"


def test_a_package_that_is_there_and_broken_is_not_called_missing(tmp_path, monkeypatch):
    folder = transformer(tmp_path / "m")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "onnxruntime.py").write_text("raise ImportError('DLL load failed')\n", encoding="utf-8")
    for name in [n for n in sys.modules if n.partition(".")[0] == "onnxruntime"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(broken)
    with pytest.raises(ModelError, match="onnxruntime cannot be imported: DLL load failed"):
        opened("fastembed", folder).embed_query("fog")


@pytest.mark.parametrize("kind", ["fastembed", "model2vec"])
def test_a_path_to_nothing_is_not_taken_for_the_name_of_a_hub(tmp_path, kind):
    for name in (tmp_path / "none", "./none", "~/none", "a/b/none"):
        with pytest.raises(ModelError, match="there is no folder"):
            opened(kind, name)


def test_fastembed_names_the_nearest_model_to_an_unknown_name():
    pytest.importorskip("fastembed", reason=MISSING)
    with pytest.raises(ModelError, match=r"knows no model 'BAAI/bge-smal-en-v1.5'") as caught:
        _ = opened("fastembed", "BAAI/bge-smal-en-v1.5").identity
    assert "did you mean 'BAAI/bge-small-en-v1.5'?" in caught.value.hint


def test_a_model_that_is_not_in_the_cache_is_not_downloaded(tmp_path, monkeypatch, capfd):
    pytest.importorskip("fastembed", reason=MISSING)
    pytest.importorskip("model2vec", reason=MISSING)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    for kind, name in (("fastembed", "BAAI/bge-small-en-v1.5"), ("model2vec", "someone/no-model")):
        with pytest.raises(ModelError, match=name) as caught:
            _ = opened(kind, name).identity
        assert "load it once" in caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_a_model_that_fastembed_knows_by_name(tmp_path, monkeypatch):
    """fastembed's own path, with a model of ours under a name that it is told."""
    fastembed = pytest.importorskip("fastembed", reason=MISSING)
    from fastembed.common.model_description import ModelSource, PoolingType

    folder = transformer(tmp_path / "m")
    write_json(folder / "tokenizer_config.json", {"model_max_length": 16, "pad_token": "[PAD]"})
    write_json(folder / "special_tokens_map.json", {"pad_token": "[PAD]"})
    fastembed.TextEmbedding.add_custom_model(
        "test/tiny", PoolingType.MEAN, normalization=True, sources=ModelSource(hf="test/tiny"), dim=8, model_file="model.onnx"
    )  # fmt: skip
    from fastembed.text.custom_text_embedding import CustomTextEmbedding

    monkeypatch.setattr(CustomTextEmbedding, "download_model", lambda *_, **__: folder)
    named, ours = opened("fastembed", "test/tiny", query_prefix="the "), opened("fastembed", folder)
    assert named.identity.dimension == 8
    assert named.identity.revision.startswith(fastembed.__version__)
    texts = ["fog", "the keeper", ""]
    assert np.allclose(named.embed_documents(texts), ours.embed_documents(texts), atol=1e-6)
    assert np.allclose(named.embed_query("fog"), ours.embed_query("the fog"), atol=1e-6)
    assert named.embed_documents([]).shape == (0, 8)


# -- a static model's folder ------------------------------------------------------------------------------------------


def test_a_static_model_is_the_mean_of_its_words(tmp_path):
    model = opened("model2vec", static(tmp_path / "m"), query_prefix="the ")
    assert model.identity.dimension == 8
    made = model.embed_documents(["fog tide", ""])
    assert np.allclose(made[0], unit(rows_of("fog", "tide").mean(axis=0)), atol=1e-6)
    assert not made[1].any()
    assert np.allclose(model.embed_query("fog"), unit(rows_of("the", "fog").mean(axis=0)), atol=1e-6)


def test_a_static_folder_without_its_files(tmp_path):
    folder = static(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer.json"):
        _ = opened("model2vec", folder).identity
    folder = static(tmp_path / "n")
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ModelError, match=r"model.safetensors") as caught:
        _ = opened("model2vec", folder).identity
    assert "damaged" in caught.value.hint
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"holds no model.safetensors"):
        _ = opened("model2vec", folder).identity


def test_a_name_in_the_local_hub_cache_is_its_folder(tmp_path, monkeypatch):
    folder = static(tmp_path / "m")
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda name, local_files_only: str(folder))
    named, ours = opened("model2vec", "someone/m"), opened("model2vec", folder)
    assert named.identity == ours.identity
    assert np.array_equal(named.embed_query("fog"), ours.embed_query("fog"))


# -- building and asking ----------------------------------------------------------------------------------------------


PAGES = {f"p{n}.md": f"# {WORDS[n % 8]}\n\n{WORDS[n % 8]} {WORDS[n % 5]} number{n}\n" for n in range(40)}


def vectors_in(repo):
    (path,) = (repo.git_dir / "memidx" / "cache").glob("*/vectors.db")
    db = sqlite3.connect(path)
    try:
        return db.execute("SELECT count(*) FROM sealed").fetchone()[0]
    finally:
        db.close()


@pytest.mark.parametrize(("kind", "make"), [("fastembed", transformer), ("model2vec", static)])
def test_a_vault_is_built_and_asked_with_it(repo, tmp_path, kind, make):
    folder = make(tmp_path / "m")
    repo.write({**PAGES, ".memidx/config.yaml": f"vector:\n  model: '{kind}:{folder.as_posix()}'\n"})
    done = run("build", "--json", cwd=repo.root, model=True, env={"MEMIDX_VECTOR_GRAPH": "never"})
    assert done.code == 0, done.err
    assert vectors_in(repo) == 40
    done = run("query", "harbour", "--only", "vector", "--json", cwd=repo.root, model=True)
    assert done.code == 0, done.err
    assert done.json["hits"][0]["title"] == "harbour"
    assert done.json["degraded"] == []


def test_a_relative_folder_starts_at_the_vault(repo, tmp_path, monkeypatch):
    transformer(repo.root / "models" / "tiny")
    repo.write({"a.md": "# fog\n"})
    monkeypatch.chdir(tmp_path)
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model="fastembed:models/tiny"))
    assert vault.embedder is not None
    assert vault.embedder.identity.dimension == 8


def test_another_document_prefix_embeds_again_and_another_query_prefix_does_not(repo, tmp_path):
    folder = transformer(tmp_path / "m")
    repo.write(PAGES)
    made = []

    def build(**settings):
        vault = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}", **settings))
        embed = vault.embedder.embed_documents
        vault.embedder.embed_documents = lambda texts: made.append(len(texts)) or embed(texts)
        made.clear()
        return vault.build().key, sum(made)

    first, embedded = build()
    assert embedded == 40
    asked, embedded = build(query_prefix="the ")
    assert asked != first and embedded == 0
    assert build(document_prefix="the ")[1] == 40


class Killed(BaseException):
    """As sudden as Ctrl-C."""


def test_a_build_that_is_stopped_goes_on_where_it_was(repo, tmp_path):
    folder = transformer(tmp_path / "m")
    repo.write(PAGES)
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}"))
    assert isinstance(vault.embedder, Slow)
    embed, portions, steps = vault.embedder.embed_documents, [], []

    def stop_at_the_third(texts):
        portions.append(len(texts))
        if len(portions) == 3:
            raise Killed
        return embed(texts)

    vault.embedder.embed_documents = stop_at_the_third
    with pytest.raises(Killed):
        vault.build(progress=lambda done, total: steps.append((done, total)))
    assert portions == [16, 16, 8]
    assert vectors_in(repo) == 32
    assert steps == [(16, 40), (32, 40)]
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}"))
    vault.embedder.embed_documents = stop_at_the_third
    report = vault.build(progress=lambda done, total: steps.append((done, total)))
    assert portions[3:] == [8]
    assert steps[2:] == [(40, 40)]
    clean = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}"))
    before = (repo.git_dir / "memidx" / "snapshots" / report.key / "manifest.json").read_bytes()
    clean.build(full=True)
    assert (repo.git_dir / "memidx" / "snapshots" / report.key / "manifest.json").read_bytes() == before


def test_a_killed_process_leaves_what_it_embedded(repo, tmp_path):
    """SIGKILL in the middle, then the next build: nothing that was saved is made again."""
    import signal
    import subprocess

    if not hasattr(signal, "SIGKILL"):
        pytest.skip("there is no SIGKILL here")
    folder = transformer(tmp_path / "m")
    repo.write(PAGES)
    script = tmp_path / "build.py"
    script.write_text(
        "import os, signal, memidx\n"
        "from memidx.ground.settings import VectorSettings\n"
        f"vault = memidx.open_vault({str(repo.root)!r}, vector=VectorSettings(model={f'fastembed:{folder}'!r}))\n"
        "embed, seen = vault.embedder.embed_documents, []\n"
        "def half(texts):\n"
        "    seen.append(texts)\n"
        "    return embed(texts) if len(seen) < 3 else os.kill(os.getpid(), signal.SIGKILL)\n"
        "vault.embedder.embed_documents = half\n"
        "vault.build()\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert vectors_in(repo) == 32
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}"))
    embed, made = vault.embedder.embed_documents, []
    vault.embedder.embed_documents = lambda texts: made.extend(texts) or embed(texts)
    assert vault.build().sections == 40
    assert len(made) == 8


def test_a_query_does_not_wait_for_a_slow_model_to_see_every_page(repo, tmp_path):
    repo.write(PAGES)
    memidx.open_vault(repo.root, vector=VectorSettings(model="none")).build()
    folder = transformer(tmp_path / "m")
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model=f"fastembed:{folder}"))
    answer = vault.query("harbour")
    assert answer.fresh == "stale"
    assert any("the settings changed since the last build" in notice for notice in answer.notices)
    assert any("memidx build" in notice for notice in answer.notices)


def test_what_a_slow_model_adds_to_a_refresh():
    quick = Work(pages=1000, touched=3, update=True)
    assert expected_seconds(quick) == pytest.approx(0.15 + 3 * 0.003)
    slow = Work(pages=1000, touched=3, update=True, embedded=3)
    assert expected_seconds(slow) == pytest.approx(0.15 + 3 * 0.003 + 3 * 0.15)
    many = Work(pages=1000, touched=30, update=True, embedded=30)
    assert refresh_or_not(many, 2.0, have_answer=True) == "stale"
    assert refresh_or_not(slow, 2.0, have_answer=True) == "refresh"


def test_doctor_loads_the_model(repo, tmp_path):
    folder = transformer(tmp_path / "m")
    env = {"MEMIDX_VECTOR_MODEL": f"fastembed:{folder}"}
    (found,) = [f for f in run("doctor", "--json", cwd=repo.root, env=env).json["findings"] if f["name"] == "model"]
    assert found["state"] == "ok" and "8 dimensions" in found["message"]
    (folder / "1_Pooling" / "config.json").unlink()
    (found,) = [f for f in run("doctor", "--json", cwd=repo.root, env=env).json["findings"] if f["name"] == "model"]
    assert found["state"] == "fail" and "1_Pooling" in found["message"] and found["remedy"]
