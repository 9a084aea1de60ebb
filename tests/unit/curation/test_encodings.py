"""Which encodings files are read in, and which are refused with likely ones named. The sentences are our own."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.files.drafts import FileError
from curation.files.encoding import (
    OFFERED,
    UnknownEncodingError,
    detect_encoding,
    encoding_label,
    encoding_named,
)
from curation.files.parsing import inspect_file, read_pairs

SENTENCES = {
    "zh": (
        "今天早上下了一场大雨。",
        "孩子们在公园里放风筝。",
        "她每天骑自行车去上班。",
        "这家饭馆的面条很好吃。",
        "老师正在给学生讲故事。",
        "他在图书馆里找一本旧书。",
        "火车晚点了两个小时。",
        "我们打算明年去北方旅行。",
        "一只黑猫睡在窗台上。",
        "医生建议他多喝水。",
    ),
    "ja": (
        "今朝は雨が強く降りました。",
        "子供たちは公園で凧を揚げている。",
        "彼女は毎日自転車で会社に通います。",
        "この店のラーメンはとてもおいしい。",
        "先生が生徒に物語を読んでいる。",
        "彼は図書館で古い本を探した。",
        "電車が二時間遅れました。",
        "来年は北の町へ旅行するつもりです。",
        "黒い猫が窓のそばで寝ている。",
        "医者は水をたくさん飲むように言った。",
    ),
    "ko": (
        "오늘 아침에 비가 많이 내렸다.",
        "아이들이 공원에서 연을 날린다.",
        "그녀는 매일 자전거로 출근한다.",
        "이 식당의 국수는 아주 맛있다.",
        "선생님이 학생들에게 이야기를 들려준다.",
        "그는 도서관에서 오래된 책을 찾았다.",
        "기차가 두 시간 늦었다.",
        "우리는 내년에 북쪽으로 여행을 간다.",
        "검은 고양이가 창가에서 잔다.",
        "의사는 물을 많이 마시라고 했다.",
    ),
    "pl": (
        "Dziś rano padał silny deszcz.",
        "Dzieci puszczają latawce w parku.",
        "Ona codziennie jeździ rowerem do pracy.",
        "Zupa w tej restauracji jest świetna.",
        "Nauczyciel opowiada uczniom bajkę.",
        "Szukał w bibliotece starej książki.",
        "Pociąg spóźnił się dwie godziny.",
        "W przyszłym roku pojedziemy na północ.",
        "Czarny kot śpi na parapecie.",
        "Lekarz kazał mu pić więcej wody.",
    ),
    "cs": (
        "Dnes ráno hustě pršelo.",
        "Děti pouštějí v parku draky.",
        "Každý den jezdí do práce na kole.",
        "Polévka v této restauraci je výborná.",
        "Učitel vypráví žákům pohádku.",
        "Hledal v knihovně starou knihu.",
        "Vlak měl dvě hodiny zpoždění.",
        "Příští rok pojedeme na sever.",
        "Černá kočka spí na okně.",
        "Lékař mu řekl, aby pil více vody.",
    ),
    "ru": (
        "Сегодня утром шёл сильный дождь.",
        "Дети запускают в парке змея.",
        "Она каждый день ездит на работу на велосипеде.",
        "Суп в этом ресторане очень вкусный.",
        "Учитель рассказывает ученикам сказку.",
        "Он искал в библиотеке старую книгу.",
        "Поезд опоздал на два часа.",
        "В следующем году мы поедем на север.",
        "Чёрная кошка спит на окне.",
        "Врач велел ему пить больше воды.",
    ),
    "bg": (
        "Днес сутринта валя силен дъжд.",
        "Децата пускат хвърчила в парка.",
        "Тя всеки ден ходи на работа с колело.",
        "Супата в този ресторант е много вкусна.",
        "Учителят разказва приказка на учениците.",
        "Той търсеше стара книга в библиотеката.",
        "Влакът закъсня с два часа.",
        "Догодина ще пътуваме на север.",
        "Черна котка спи на прозореца.",
        "Лекарят му каза да пие повече вода.",
    ),
    "ar": (
        "هطل مطر غزير هذا الصباح.",
        "يلعب الأطفال بالطائرات الورقية في الحديقة.",
        "تذهب كل يوم إلى العمل بالدراجة.",
        "الحساء في هذا المطعم لذيذ جدا.",
        "يحكي المعلم قصة للتلاميذ.",
        "بحث في المكتبة عن كتاب قديم.",
        "تأخر القطار ساعتين.",
        "سنسافر في العام القادم إلى الشمال.",
        "تنام قطة سوداء على النافذة.",
        "نصحه الطبيب بشرب المزيد من الماء.",
    ),
    "fa": (
        "امروز صبح باران شدیدی بارید.",
        "بچه ها در پارک بادبادک هوا می کنند.",
        "او هر روز با دوچرخه به سر کار می رود.",
        "سوپ این رستوران بسیار خوشمزه است.",
        "معلم برای شاگردان قصه می گوید.",
        "او در کتابخانه دنبال کتابی کهنه گشت.",
        "قطار دو ساعت دیر کرد.",
        "سال آینده به شمال سفر می کنیم.",
        "گربه سیاهی کنار پنجره خوابیده است.",
        "پزشک گفت بیشتر آب بنوشد.",
    ),
    "tr": (
        "Bu sabah şiddetli yağmur yağdı.",
        "Çocuklar parkta uçurtma uçuruyor.",
        "Her gün işe bisikletle gidiyor.",
        "Bu lokantanın çorbası çok lezzetli.",
        "Öğretmen öğrencilere masal anlatıyor.",
        "Kütüphanede eski bir kitap aradı.",
        "Tren iki saat gecikti.",
        "Gelecek yıl kuzeye gideceğiz.",
        "Siyah bir kedi pencerede uyuyor.",
        "Doktor ona daha çok su içmesini söyledi.",
    ),
    "fr": (
        "Ce matin, il a plu très fort.",
        "Les enfants font voler un cerf-volant près de l’école.",
        "Elle va chaque jour au travail à vélo.",
        "La soupe de ce restaurant est délicieuse.",
        "Le maître raconte une histoire aux élèves.",
        "Il a cherché un vieux livre à la bibliothèque.",
        "Le train a eu deux heures de retard.",
        "L’année prochaine, nous irons vers le nord.",
        "Un chat noir dort sur la fenêtre.",
        "Le médecin lui a conseillé de boire de l’eau.",
        "Les fruits du marché sont bon marché, où qu’on aille.",
        "Après le dîner, nous irons nous promener.",
        "La sœur de Noël a reçu un œuf.",
    ),
    "de": (
        "Heute Morgen hat es stark geregnet.",
        "Die Kinder lassen im Park Drachen steigen.",
        "Sie fährt jeden Tag mit dem Rad zur Arbeit.",
        "Die Suppe in diesem Gasthaus schmeckt köstlich.",
        "Der Lehrer erzählt den Schülern ein Märchen.",
        "Er suchte in der Bücherei ein altes Buch.",
        "Der Zug hatte zwei Stunden Verspätung.",
        "Nächstes Jahr reisen wir in den Norden.",
        "Eine schwarze Katze schläft am Fenster.",
        "Der Arzt riet ihm, mehr Wasser zu trinken.",
        "Das Obst auf dem Markt ist günstig, sagte er: „Schön!“",
        "Nach dem Essen gehen wir spazieren.",
        "Die Straße ist groß.",
    ),
    "es": (
        "Esta mañana llovió mucho.",
        "Los niños vuelan cometas en el parque.",
        "Ella va todos los días al trabajo en bicicleta.",
        "La sopa de este restaurante está muy rica.",
        "El maestro cuenta un cuento a los niños.",
        "Buscó un libro viejo en la biblioteca.",
        "El tren llegó con dos horas de retraso.",
        "El año que viene viajaremos al norte.",
        "Un gato negro duerme en la ventana.",
        "El médico le aconsejó beber más agua.",
        "¿Dónde está el mercado? ¡Qué barato!",
        "Después de cenar saldremos a pasear.",
        "El pingüino nadó.",
    ),
    "pt": (
        "Esta manhã choveu muito.",
        "As crianças soltam pipas no parque.",
        "Ela vai todos os dias ao trabalho de bicicleta.",
        "A sopa deste restaurante é muito boa.",
        "O professor conta uma história aos alunos.",
        "Ele procurou um livro antigo na biblioteca.",
        "O trem atrasou duas horas.",
        "No próximo ano viajaremos para o norte.",
        "Um gato preto dorme na janela.",
        "O médico mandou-o beber mais água.",
        "As frutas da feira são baratas.",
        "Depois do jantar vamos passear.",
        "A avó põe o pão à mesa. Você não vê?",
    ),
}
OTHERS = [
    ("gbk", "zh"), ("euc_jp", "ja"), ("cp949", "ko"), ("cp1250", "pl"), ("cp1250", "cs"), ("cp1251", "ru"),
    ("cp1251", "bg"), ("cp1256", "ar"), ("cp1256", "fa"), ("koi8_r", "ru"), ("iso8859_9", "tr"),
]  # fmt: skip


def files_of(folder: Path, language: str, encoding: str, *, number: int) -> Iterator[Path]:
    """Files of pairs of different sizes, each with letters that are not ASCII."""
    rng = random.Random(language)
    own = SENTENCES[language]
    for count in range(number):
        rows = [
            f'"{rng.choice(own)}","{rng.choice(own)}",{rng.randint(0, 5)}\n'
            for _row in range(rng.randint(8, 60))
        ]
        path = folder / f"{language}-{count}.csv"
        path.write_bytes("".join(["sentence1,sentence2,score\n", *rows]).encode(encoding, "ignore"))
        yield path


def named_among_two(path: Path, encoding: str) -> bool:
    try:
        detect_encoding(path)
    except UnknownEncodingError as error:
        return encoding in error.likely[:2] and encoding_label(encoding) in str(error)
    return False


@pytest.mark.parametrize(("encoding", "language"), OTHERS)
def test_a_file_in_another_encoding_is_refused_with_the_right_one_named(
    tmp_path: Path, encoding: str, language: str
) -> None:
    assert all(named_among_two(path, encoding) for path in files_of(tmp_path, language, encoding, number=4))


@pytest.mark.parametrize(
    ("encoding", "language"), [each for each in OTHERS if each[0] not in {"cp1250", "iso8859_9"}]
)
def test_one_sentence_in_another_script_is_enough_to_refuse_a_file(
    tmp_path: Path, encoding: str, language: str
) -> None:
    path = tmp_path / "one.txt"
    for sentence in SENTENCES[language]:
        path.write_bytes(sentence.encode(encoding, "ignore"))
        if sentence == "一只黑猫睡在窗台上。":  # whose bytes are mostly UTF-8 by chance, which is said
            assert "The file is UTF-8 but for 6 of its bytes" in detect_encoding(path).warning
        else:
            with pytest.raises(UnknownEncodingError):
                detect_encoding(path)


def test_letters_that_somebody_repeats_are_no_other_script(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Jääääää!\nKöööööö…\n«Où?», «ÉÉÉÉÉTÉ»\nTööööaeg, jäääär\n".encode("cp1252"))

    assert detect_encoding(path).name == "cp1252"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("encoding", "language"), OTHERS)
def test_of_40_files_in_another_encoding_38_are_refused_with_the_right_one_named(
    tmp_path: Path, encoding: str, language: str
) -> None:
    paths = files_of(tmp_path, language, encoding, number=40)

    assert sum(named_among_two(path, encoding) for path in paths) >= 38


@pytest.mark.parametrize("language", ["fr", "de", "es", "pt"])
def test_no_file_of_windows_1252_is_refused(tmp_path: Path, language: str) -> None:
    assert {detect_encoding(path).name for path in files_of(tmp_path, language, "cp1252", number=40)} == {
        "cp1252"
    }


@pytest.mark.parametrize(
    "text",
    [
        "Ça coûte 5 €, dit-il : « naïf ».\nDie Straße ist schön.\n¿Dónde está el niño?\nA avó põe o pão.\n",
        "Við fórum út í gær.\nÞað er gott veður.\nHann á bækur.\nÉg er þreyttur.\n",
        "The “dog” isn’t here — it ran 3 m² for £2½.\n" * 5,
        "A talk by Dvo\u00f8ák.\nPlain English.\n",
    ],
)
def test_other_texts_of_western_europe_are_read_as_windows_1252(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("cp1252"))

    assert detect_encoding(path).name == "cp1252"


def test_sentences_that_begin_late_decide_too(tmp_path: Path) -> None:
    rows = ["The dog ran.,It’s a dog.\n"] * 3_000 + [f"{one},{one}\n" for one in SENTENCES["ru"]] * 400
    path = tmp_path / "late.csv"
    path.write_bytes("".join(rows).encode("cp1251"))

    with pytest.raises(UnknownEncodingError, match="Windows-1251"):
        detect_encoding(path)


@pytest.mark.parametrize(("encoding", "language"), OTHERS)
def test_a_file_is_read_rightly_in_the_encoding_that_somebody_names(
    tmp_path: Path, encoding: str, language: str
) -> None:
    path = next(files_of(tmp_path, language, encoding, number=1))

    layout, pairs, errors = read_pairs(path, encoding=encoding)

    assert not errors
    written = {text.encode(encoding, "ignore").decode(encoding) for text in SENTENCES[language]}
    assert {text for pair in pairs for text in (pair.a, pair.b)} <= written
    assert (layout.encoding, layout.warnings) == (encoding, ())


@pytest.mark.parametrize(
    "name", [*OFFERED, "UTF-8", "latin-1", "windows-1251", "Shift_JIS", "utf-16", "koi8-u"]
)
def test_encodings_are_known_by_their_usual_names(name: str) -> None:
    assert "ä".encode(encoding_named(name), "replace")


@pytest.mark.parametrize(
    "name", ["klingon", "rot13", "zip", "hex", "utf-7", "idna", "unicode_escape", "", "a\x00b", "ä" * 99]
)
def test_a_name_that_is_no_encoding_of_files_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="is not an encoding of text files"):
        encoding_named(name)


def test_bytes_that_the_named_encoding_lacks_reject_their_row_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("sentence1,sentence2\n今天下雨。,雨停了。\n".encode("gbk") + b"\xff\xff,b\nc,d\n")

    _layout, pairs, errors = read_pairs(path, encoding="gbk")

    assert [(pair.a, pair.b) for pair in pairs] == [("今天下雨。", "雨停了。"), ("c", "d")]
    assert [error.line for error in errors] == [3]


def test_a_mark_is_not_read_as_text_where_somebody_names_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("sentence1,sentence2\na,ä\n".encode("utf-8-sig"))

    assert inspect_file(path, encoding="utf-8").columns == ("sentence1", "sentence2")


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "encoding"), [("zh_gbk.csv", "gbk"), ("ru_cp1251.csv", "cp1251")])
def test_files_of_the_field_are_refused_and_read_in_the_encoding_named(
    real_data: Path, name: str, encoding: str
) -> None:
    path = real_data / "field" / name

    assert named_among_two(path, encoding)
    assert not read_pairs(path, encoding=encoding)[2]
